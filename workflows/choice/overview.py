"""The default choice of every data set of a cube, one row for each."""

from collections.abc import Iterator

from rich.table import Table

from storage import CubeLocation, read_spec
from workflows.choice.candidates import Candidates, keeps_candidates
from workflows.choice.choosing import all_candidates, default_rule, pick_baseline, pick_by
from workflows.choice.picks import ari_between
from workflows.terminal import as_table

_HEADER = [
    "configuration",
    "data set",
    "rule",
    "choice",
    "clusters",
    "ARI",
    "ARI of\nk-means++",
    "ARI between\nboth",
]


def overview_tables(location: CubeLocation) -> Iterator[Table]:
    """Yield a table of the default choices if the cube keeps labels, otherwise nothing.

    Raises `PluginError` if a score has to be computed with a plug-in that this process lacks.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline import make_table
    >>> from pipeline.spec.sweep import Sweep
    >>> from workflows import submit
    >>> table = make_table([[0.0], [1.0], [8.0], [9.0]])
    >>> keys = {"normalisations": ["range"], "p1": [1.5, 2], "p2": [3], "restarts": 5}
    >>> with TemporaryDirectory() as folder:
    ...     _ = submit(Sweep.of({"mine": table}, k=2, **keys), f"{folder}/cube.zarr", workers=0)
    ...     (overview,) = overview_tables(f"{folder}/cube.zarr")
    >>> [list(column.cells)[0].plain for column in overview.columns][2:5]
    ['silhouette', 'range, p1 = 1.5, not rescaled', '2']
    """
    if not keeps_candidates(read_spec(location)):
        return
    rows = [_row(each) for each in all_candidates(location)]
    if rows:
        yield as_table(
            "Chosen without classes (imwk choose compares the rules)",
            _HEADER,
            rows,
            ["configuration", "rule", "choice"],
        )


def _row(candidates: Candidates) -> list[str]:
    pick = pick_by(candidates, default_rule(candidates.features))
    baseline = pick_baseline(candidates, pick.rule)
    return [
        candidates.config,
        str(candidates.dataset),
        pick.rule,
        pick.what,
        str(pick.clusters),
        _shown(pick.ari),
        _shown(None if baseline is None else baseline.ari),
        _shown(None if baseline is None else ari_between(pick, baseline)),
    ]


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
