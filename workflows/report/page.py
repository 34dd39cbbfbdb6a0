"""The page itself: one template, its style and its scripts; every text in it is escaped."""

import hashlib
from base64 import b64encode
from functools import cache
from importlib.resources import files
from typing import Any

import xarray as xr
from bokeh.resources import Resources
from jinja2 import Environment

from storage import Ledger, Provenance
from workflows.paper.comparison import compare_with_paper
from workflows.paper.formats import WORDS, closing_lines, sections
from workflows.report.figures import PALETTE, figure_items
from workflows.report.packing import STEPS, ZERO
from workflows.report.pictures import pictures_of
from workflows.report.state import provenance_facts, state_facts

#: In the order in which they need each other.
SCRIPTS = ("grids.js", "drawing.js", "controls.js")


def report_page(name: str, cube: xr.Dataset, ledger: Ledger, provenance: Provenance) -> str:
    """Return a page about a cube that needs no other file and no network.

    Parameters
    ----------
    name : str
        Of the cube, for the title.
    cube : xarray.Dataset
        As `open_cube` gives it, in memory.
    ledger : Ledger
        What became of its tiles.
    provenance : Provenance
        Where its results come from.

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
    results = pictures_of(cube)
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
        paper=_paper(cube),
        state=state_facts(ledger),
        provenance=provenance_facts(provenance, cube),
    )


def _data(cube: xr.Dataset, results: list[dict[str, Any]]) -> dict[str, Any]:
    """Return what the scripts draw from."""
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
    # Escapes all but what the template calls safe: our own files and Bokeh's
    environment = Environment(autoescape=True)
    # Bokeh reads a model where it stands first, and by its number wherever it comes after that
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False}
    return environment.from_string(_file("page.html")).render(**values)


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


@cache
def _bokeh() -> str:
    return "\n".join(Resources("inline", components=["bokeh"], log_level="warn").js_raw)


def _hash(script: str) -> str:
    """Name a script in a content security policy: only these run."""
    return f"'sha256-{b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"
