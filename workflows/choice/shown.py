"""The picks of all rules as tables for a terminal, and as JSON."""

from collections.abc import Iterable, Iterator
from math import isfinite
from typing import Any

from rich.table import Table

from pipeline.score_facts import SCORE_FACTS
from storage import Counts
from workflows.choice.advice import advice_on
from workflows.choice.candidates import Candidate
from workflows.choice.cluster_counts import NOT_COMPARABLE, CountChoice
from workflows.choice.picks import BASELINE, DatasetChoice, Pick, ari_between
from workflows.terminal import as_table, counted

#: What algorithms are called.
ALGORITHMS = {
    "imwk": "imwk-means",
    "rescaled_imwk": "rescaled imwk-means",
    "kmeans": "k-means++",
}


#: The columns of the table of picks, and those of them that are words.
HEADER = ["rule", "algorithm", "normalisation", "p1", "p2", "clusters", "score", "ARI", "notes"]
WORDS = ["rule", "algorithm", "normalisation", "notes"]


def choice_tables(choice: DatasetChoice) -> Iterator[Table]:
    """Yield a table of the picks, and one of how far they agree.

    Examples
    --------
    >>> import numpy as np
    >>> labels = np.array([0, 0, 1, 1])
    >>> picks = (Pick("silhouette", Candidate("imwk", "range", 1.5), labels, 0.5, None),)
    >>> tables = choice_tables(DatasetChoice("mine", 0, 2, "silhouette", picks, None, None))
    >>> [list(column.cells)[0].plain for column in next(tables).columns]
    ['silhouette (default)', 'imwk-means', 'range', '1.5', '-', '2', '0.5000', '-', '']
    """
    yield as_table(_title(choice), HEADER, [_row(choice, pick) for pick in choice.shown], WORDS)
    names = [pick.rule for pick in choice.shown]
    yield as_table(
        "How far the picks agree (ARI)",
        ["", *names],
        [
            [name, *(f"{value:.2f}" for value in row)]
            for name, row in zip(names, choice.agreement, strict=True)
        ],
        [""],
    )


def choice_lines(choice: DatasetChoice) -> Iterator[str]:
    """Yield what is printed below the tables: notes, the gain of `info`, and the advice."""
    scores = [pick.rule for pick in choice.picks if pick.rule in SCORE_FACTS]
    apart = [name for name in scores if not SCORE_FACTS[name].across_normalisations]
    if choice.normalisations > 1:
        yield f"Strictly, values of {', '.join(apart)} compare only within a normalisation."
    yield from _about_ensemble(choice)
    info = choice.by("info")
    if info is not None and choice.baseline is not None and ari_between(info, choice.baseline) < 1:
        yield f"info gains {choice.gain:.3f} nats over k-means++, which proves nothing by itself."
    yield f"Advice: {advice_on(choice).sentence}"


def _about_ensemble(choice: DatasetChoice) -> Iterator[str]:
    if choice.no_ensemble is not None:
        yield f"No ensemble: {choice.no_ensemble}."
    scores = choice.info_of_ensemble
    if scores is not None:
        more = "higher" if scores[0] > scores[1] else "not higher"
        yield (
            "ensemble: a consensus of runs has neither exponents nor weights. Its score is info, "
            f"{more} than that of the best run."
        )


def progress_lines(tiles: Counts) -> Iterator[str]:
    """Yield that results are missing, if they are.

    Examples
    --------
    >>> list(progress_lines(Counts(done=3, failed=1, missing=1)))
    ['3 of 5 tiles are done. Only their runs compete.']
    """
    if tiles.done < tiles.total:
        yield f"{tiles.done:,} of {counted(tiles.total, 'tile')} are done. Only their runs compete."


def choice_section(choice: DatasetChoice) -> dict[str, Any]:
    """Return the picks of a data set as texts for a page."""
    return {
        "title": _title(choice),
        "header": HEADER,
        "words": WORDS,
        "rows": [_row(choice, pick) for pick in choice.shown],
        "lines": list(choice_lines(choice)),
    }


def choice_facts(choice: DatasetChoice) -> dict[str, Any]:
    """Return the picks of a data set for JSON, without their labels."""
    names = [pick.rule for pick in choice.shown]
    rows = zip(names, choice.agreement.tolist(), strict=True)
    advice = advice_on(choice)
    return {
        "config": choice.config,
        "dataset": choice.dataset,
        "k": choice.k,
        "default": choice.default,
        "picks": [pick_facts(pick) for pick in choice.picks],
        "baseline": None if choice.baseline is None else pick_facts(choice.baseline),
        "info_gain": choice.gain,
        "labelled_rows": choice.labelled_rows,
        "no_ensemble": choice.no_ensemble,
        "agreement": {name: dict(zip(names, row, strict=True)) for name, row in rows},
        "take": advice.take,
        "advice": advice.sentence,
    }


def choices_facts(
    choices: Iterable[DatasetChoice], counts: Iterable[CountChoice], tiles: Counts
) -> dict[str, Any]:
    """Return the picks of all data sets and the comparison of numbers of clusters for JSON."""
    return {
        "tiles": {"done": tiles.done, "total": tiles.total},
        "datasets": [choice_facts(each) for each in choices],
        "cluster_counts": [_counts_facts(each) for each in counts],
    }


def pick_facts(pick: Pick) -> dict[str, Any]:
    """Return a pick for JSON, without its labels."""
    where = pick.candidate
    return {
        "rule": pick.rule,
        "part": None if where is None else where.part,
        "normalisation": None if where is None else where.normalisation,
        "p1": None if where is None else where.p1,
        "p2": None if where is None else where.p2,
        "clusters": pick.clusters,
        "score": pick.score if isfinite(pick.score) else None,
        "ari": pick.ari,
        "flags": list(pick.flags),
    }


def counts_table(found: CountChoice) -> Table:
    """Return the scores of each number of clusters as a table for a terminal.

    Examples
    --------
    >>> scores = {"info": (0.5, 0.7), "silhouette": (0.4, 0.3)}
    >>> table = counts_table(CountChoice(("mine k=2", "mine k=3"), (2, 3), scores, "info"))
    >>> [list(column.cells)[1].plain for column in table.columns]
    ['mine k=3', '3', '0.7000 *', '0.3000']
    """
    preferred = found.preferred
    rows = [
        [
            config,
            str(count),
            *(
                _cell(values[place], preferred[rule] == count)
                for rule, values in found.scores.items()
            ),
        ]
        for place, (config, count) in enumerate(zip(found.configs, found.counts, strict=True))
    ]
    return as_table(
        f"Numbers of clusters, data set {found.dataset}: the score of what each rule picks, the "
        "best with *",
        ["configuration", "k", *found.scores],
        rows,
        ["configuration"],
    )


def counts_lines(found: CountChoice) -> Iterator[str]:
    """Yield what is printed below the table: what may not be compared, and the advice."""
    yield f"Values of {', '.join(NOT_COMPARABLE)} may not be compared between numbers of clusters."
    yield f"Advice: {found.sentence}"


def _title(choice: DatasetChoice) -> str:
    return f"{choice.config}, data set {choice.dataset}: what each rule picks"


def _row(choice: DatasetChoice, pick: Pick) -> list[str]:
    return [
        _rule(choice, pick),
        *_place(pick.candidate),
        str(pick.clusters),
        f"{pick.score:.4f}",
        "-" if pick.ari is None else f"{pick.ari:.4f}",
        "; ".join(pick.flags),
    ]


def _place(where: Candidate | None) -> list[str]:
    if where is None:
        return ["consensus", "-", "-", "-"]
    exponents = ("-" if p is None else f"{p:g}" for p in (where.p1, where.p2))
    return [ALGORITHMS[where.part], where.normalisation, *exponents]


def _rule(choice: DatasetChoice, pick: Pick) -> str:
    if pick.rule == BASELINE:
        return f"baseline, by {choice.default}"
    return f"{pick.rule} (default)" if pick.rule == choice.default else pick.rule


def _counts_facts(found: CountChoice) -> dict[str, Any]:
    return {
        "configs": list(found.configs),
        "dataset": found.dataset,
        "k": list(found.counts),
        "scores": {rule: list(values) for rule, values in found.scores.items()},
        "preferred": found.preferred,
        "not_comparable": list(NOT_COMPARABLE),
        "default": found.default,
        "advice": found.sentence,
    }


def _cell(value: float, is_best: bool) -> str:
    return f"{value:.4f} *" if is_best else f"{value:.4f}"
