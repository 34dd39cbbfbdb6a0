"""Measure shapes, the paper's sweep, real data, memory, overhead and plans: `make bench`."""

import json

import click

from benchmarks import memory, overhead, plans, projection, real, shapes

SECTIONS = {
    "shapes": shapes.measure,
    "sweep": projection.measure,
    "real": real.measure,
    "memory": memory.measure,
    "overhead": overhead.measure,
    "plans": plans.measure,
}


@click.command()
@click.argument("sections", nargs=-1, type=click.Choice(list(SECTIONS)))
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def main(sections: tuple[str, ...], as_json: bool) -> None:
    """Measure everything, or some SECTIONS of it, a table for each."""
    found = {}
    for name in sections or SECTIONS:
        found[name] = SECTIONS[name]()
        if not as_json:
            print(found[name].as_markdown(), end="\n\n", flush=True)
    if as_json:
        print(json.dumps({name: section.as_dict() for name, section in found.items()}))


if __name__ == "__main__":
    main()
