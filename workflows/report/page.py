"""Render the page: a template with its style and scripts. Every text in it is escaped."""

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

import xarray as xr
from bokeh.resources import Resources
from jinja2 import Environment

from storage import Ledger, Provenance
from workflows.choice import DatasetChoice
from workflows.choice.shown import choice_section
from workflows.paper.comparison import compare_with_paper
from workflows.paper.formats import WORDS, closing_lines, sections
from workflows.report.figure_data import figure_data
from workflows.report.figures import PALETTE, figure_items
from workflows.report.packing import STEPS, ZERO
from workflows.report.state import provenance_facts, state_facts

#: Each script uses those before it.
SCRIPTS = ("grids.js", "drawing.js", "controls.js")


def report_page(
    name: str,
    cube: xr.Dataset,
    ledger: Ledger,
    provenance: Provenance,
    choices: Sequence[DatasetChoice] = (),
) -> str:
    """Return the report of a cube as a page that needs no other file and no network.

    Parameters
    ----------
    name : str
        The name of the cube, for the title.
    cube : xarray.Dataset
        An open cube, loaded into memory.
    ledger : Ledger
        The status of its tiles.
    provenance : Provenance
        The origin of its results.
    choices : sequence of DatasetChoice, optional
        What rules pick without classes, if the cube keeps labels.

    Examples
    --------
    >>> from pipeline.spec import SweepSpec
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 2}})
    >>> coords = {"config": ["Iris"], "normalisation": ["range"], "p1": [2.0], "p2": [2.0]}
    >>> nothing = Ledger({}, {}, (), 0), Provenance(spec, "", "", "", 0, ())
    >>> page = report_page("<Iris>", xr.Dataset(coords=coords), *nothing)
    >>> "<h1><bdi>&lt;Iris&gt;</bdi></h1>" in page
    True
    """
    results = figure_data(cube)
    scripts = (_bokeh(), "\n".join(map(_file, SCRIPTS)))
    return _template(
        name=name,
        palette=PALETTE[::15],
        style=_file("page.css"),
        scripts=scripts,
        script_hashes=" ".join(map(_hash, scripts)),
        configs=cube["config"].values.tolist(),
        normalisations=cube["normalisation"].values.tolist(),
        results=[result["name"] for result in results],
        data=_data(cube, results),
        choices=[choice_section(choice) for choice in choices],
        paper=_paper(cube),
        state=state_facts(ledger),
        provenance=provenance_facts(provenance, cube),
    )


def _data(cube: xr.Dataset, results: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the data of the scripts."""
    p1, p2 = (cube[dim].values.tolist() for dim in ("p1", "p2"))
    return {
        "results": results,
        "p1": p1,
        "p2": p2,
        "steps": STEPS,
        "zero": ZERO,
        "figures": figure_items(p1, p2),
    }


def _paper(cube: xr.Dataset) -> dict[str, Any]:
    rows = compare_with_paper(cube)
    return {"sections": list(sections(rows)), "closing": closing_lines(rows), "words": WORDS}


def _template(**values: Any) -> str:
    # Escapes everything except what the template marks as safe: our own files and Bokeh's.
    environment = Environment(autoescape=True)
    # Keys are not sorted: Bokeh defines a model where it occurs first, and refers to it after that.
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False}
    return environment.from_string(_file("page.html")).render(**values)


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


@cache
def _bokeh() -> str:
    return "\n".join(Resources("inline", components=["bokeh"], log_level="warn").js_raw)


def _hash(script: str) -> str:
    """Return the hash of a script for the content security policy, which allows no other script."""
    return f"'sha256-{b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
