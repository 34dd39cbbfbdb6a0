"""Measure the six shapes, the paper's sweep, real data, memory and overhead: `make bench`."""

import json

import click

from benchmarks import memory, overhead, projection, real, shapes

SECTIONS = {
    "shapes": shapes.measure,
    "sweep": projection.measure,
    "real": real.measure,
    "memory": memory.measure,
    "overhead": overhead.measure,
}


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def main(as_json: bool) -> None:
    """Measure everything, a table for each."""
    found = {}
    for name, measure in SECTIONS.items():
        found[name] = measure()
        if not as_json:
            print(found[name].as_markdown(), end="\n\n", flush=True)
    if as_json:
        print(json.dumps({name: section.as_dict() for name, section in found.items()}))


if __name__ == "__main__":
    main()
