"""The facts of a page about the sweep: its tiles, its failures, and the origin of results."""

from collections.abc import Mapping
from typing import Any

import xarray as xr

from pipeline.spec import Tile
from storage import Ledger, Provenance
from workflows.status import about_unlabelled


def state_facts(ledger: Ledger) -> dict[str, Any]:
    """Return the progress of a sweep, and the failed tiles grouped by their error.

    Examples
    --------
    >>> from storage import Status
    >>> tiles = [Tile("Iris", 0, "range"), Tile("Iris", 0, "z-score")]
    >>> ledger = Ledger(dict.fromkeys(tiles, Status.FAILED), dict.fromkeys(tiles, "no"), (), 0)
    >>> facts = state_facts(ledger)
    >>> facts["summary"]
    '0 of 2 tiles done, 2 failed, 0 missing'
    >>> facts["failures"]
    {'no': ['Iris, data set 0, range', 'Iris, data set 0, z-score']}
    """
    counts = ledger.counts
    return {
        "summary": f"{counts.done:,} of {counts.total:,} tiles done, "
        f"{counts.failed:,} failed, {counts.missing:,} missing",
        "notes": about_unlabelled(ledger.unlabelled),
        "tiles": [
            (config, tiles.done, tiles.failed, tiles.missing)
            for config, tiles in ledger.by_config.items()
        ],
        "failures": _by_error(ledger.failed),
    }


def _by_error(failed: Mapping[Tile, str]) -> dict[str, list[str]]:
    failures: dict[str, list[str]] = {}
    for tile, error in failed.items():
        failures.setdefault(error, []).append(str(tile))
    return failures


def provenance_facts(provenance: Provenance, cube: xr.Dataset) -> dict[str, Any]:
    """Return the origin of results, as texts.

    Examples
    --------
    >>> from pipeline.spec import SweepSpec
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 2}})
    >>> provenance = Provenance(spec, "4f2a", "2021", "2022", 3, ())
    >>> cube = xr.Dataset({"tile_seconds": ("dataset", [1800.0, 3600.0])})
    >>> provenance_facts(provenance, cube)["facts"]["computing"]
    '1.50 core-hours'
    """
    hours = float(cube["tile_seconds"].sum()) / 3600 if "tile_seconds" in cube else 0.0
    return {
        "facts": {
            "created": provenance.created,
            "last session started": provenance.updated,
            "computing": f"{hours:,.2f} core-hours",
            "hosts": str(provenance.hosts),
            "fingerprint": provenance.fingerprint,
            "version of the rules": str(provenance.spec.rules),
        },
        "sessions": [
            {"started": session["started"], "facts": _session(session)}
            for session in provenance.sessions
        ],
        "spec": provenance.spec.to_toml(),
    }


def _session(session: Mapping[str, Any]) -> dict[str, str]:
    return {
        "last worker joined": str(session["updated"]),
        "versions": ", ".join(
            f"{name} {version}"
            for name, version in {"Python": session["python"], **session["versions"]}.items()
        ),
        "machine": str(session["machine"]),
        "CPU features": " ".join(session["cpu_features"]),
    }
