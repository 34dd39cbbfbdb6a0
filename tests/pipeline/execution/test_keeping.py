"""What blocks keep of their runs: types, rounding, and the bytes that a plan counts."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core import kmeans
from pipeline.execution.block import run_tile
from pipeline.execution.keeping import kept_restart, rounded_weights
from pipeline.execution.plan import make_plan
from pipeline.execution.workload import RunCost, kept_bytes
from pipeline.spec import KEEP
from pipeline.spec.sweep import Sweep
from tests.own_tables import small_table

KEYS: dict[str, Any] = {"normalisations": ["range"], "p1": [1.5, 2], "p2": [2, 3, 4], "restarts": 3}


@given(st.lists(st.floats(0, 1, width=64), min_size=1))
def test_weights_are_rounded_to_the_nearest_of_16_bits(weights: list[float]) -> None:
    given = np.array(weights)
    rounded = rounded_weights(given)
    single = given.astype(np.float32)
    normal = single >= np.finfo(np.float32).tiny
    unit = np.spacing(single[normal]).astype(np.float64) * 256
    assert (np.abs(rounded[normal] - single[normal].astype(np.float64)) <= unit / 2).all()
    assert not (rounded.view(np.uint32) % 256).any()
    assert ((rounded >= 0) & (rounded <= 1)).all()
    np.testing.assert_array_equal(rounded_weights(rounded), rounded)


def test_the_first_of_equally_good_restarts_is_kept() -> None:
    found = kmeans([[0.0], [0.1], [5.0], [5.1]], k=2, restarts=9, seed=1)
    assert len(set(found.inertia.tolist())) == 1  # all restarts find the same two clusters
    assert len(np.unique(found.labels, axis=0)) == 2  # in another order
    kept = kept_restart(found, 2, KEEP)
    assert kept["kmeans_restart"] == 0
    np.testing.assert_array_equal(kept["kmeans_labels"], found.labels[0])


@pytest.mark.parametrize("parts", [["kmeans"], ["imwk"], ["kmeans", "imwk", "rescaled_imwk"]])
@pytest.mark.parametrize("keep", [[], ["labels"], ["weights"], KEEP])
def test_a_plan_counts_the_bytes_that_blocks_return(parts: list[str], keep: list[str]) -> None:
    table = small_table()
    spec = Sweep.of({"mine": table}, keep=keep, parts=parts, **KEYS).spec
    arrays = run_tile(spec, spec.tiles[0], table).arrays
    bulky = [
        values.nbytes for name, values in arrays.items() if name.endswith(("_labels", "_weights"))
    ]
    assert kept_bytes(spec, "mine") == sum(bulky)
    without = spec.model_copy(update={"keep": ()})
    costs = {"mine": RunCost(0.1, 0.1, 0.1)}
    plans = [make_plan(each, 1, costs=costs).bytes for each in (spec, without)]
    assert plans[0] - plans[1] == sum(bulky)
