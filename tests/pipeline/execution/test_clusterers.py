"""Clusterers on the normalised and on the rescaled data."""

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, SpectralClustering
from sklearn.metrics import adjusted_rand_score

from pipeline import SpecError, SweepSpec, imwk, make_plan, normalise, rescale, synthetic_dataset
from pipeline.execution.block import run_block, run_tile
from pipeline.execution.workload import RunCost
from pipeline.spec.blocks import split_block, whole_tile

DATA = {"synthetic": {"configs": ["1000x6-3 +3NF"], "count": 1}}
KEYS = {"datasets": DATA, "normalisations": ["range"], "restarts": 2, "p1": [1.5, 2], "p2": [2]}


def spec_of(**keys: object) -> SweepSpec:
    return SweepSpec.model_validate({**KEYS, "parts": [], **keys})


def test_deterministic_clusterers_are_scikit_learns_on_both_kinds_of_data() -> None:
    spec = spec_of(clusterers=["spectral", "average", "ward"])
    assert spec.clusterers == ("ward", "average", "spectral")
    arrays = run_tile(spec, spec.tiles[0]).arrays
    data = synthetic_dataset("1000x6-3 +3NF", 0, spec.seed)
    X = normalise(data.X, "range")
    run = imwk(X, 3, 1.5)
    both = {"": X, "rescaled_": rescale(X, run.labels, run.weights)}
    for prefix, Z in both.items():
        expected = {
            "ward": AgglomerativeClustering(3, linkage="ward").fit_predict(Z),
            "average": AgglomerativeClustering(3, linkage="average").fit_predict(Z),
            "spectral": SpectralClustering(3, assign_labels="cluster_qr").fit_predict(Z),
        }
        for name, labels in expected.items():
            found = np.atleast_1d(arrays[f"{prefix}{name}_ari"])[0]
            assert found == pytest.approx(adjusted_rand_score(data.y, labels)), name


def test_a_random_clusterer_has_restarts_with_streams_of_their_own() -> None:
    two, three = (spec_of(clusterers=["gmm"], restarts=restarts) for restarts in (2, 3))
    few, more = (run_tile(spec, spec.tiles[0]).arrays for spec in (two, three))
    assert (few["gmm_ari"].shape, few["rescaled_gmm_ari"].shape) == ((2,), (2, 2))
    np.testing.assert_array_equal(few["gmm_ari"], more["gmm_ari"][:2])
    np.testing.assert_array_equal(few["rescaled_gmm_ari"], more["rescaled_gmm_ari"][:, :2])
    assert len(set(more["gmm_ari"].tolist())) > 1


def test_blocks_have_the_bits_of_the_whole_tile() -> None:
    spec = spec_of(clusterers=["ward", "gmm"], scores=["silhouette"], parts=["kmeans", "imwk"])
    whole = run_tile(spec, spec.tiles[0]).arrays
    first, second = (
        run_block(spec, block).arrays for block in split_block(whole_tile(spec, spec.tiles[0]), 1)
    )
    for name, values in whole.items():
        if name in second:
            values, part = values[1:], second[name]
            np.testing.assert_array_equal(values, part)
        else:
            np.testing.assert_array_equal(values, first[name])
    assert "ward_silhouette" in first
    assert "ward_silhouette" not in second


def test_a_plan_counts_the_runs_of_clusterers_and_their_time() -> None:
    spec = spec_of(clusterers=["ward", "gmm"], restarts=5)
    cost = RunCost(0, 0, 0, clusterers={"ward": 1.0, "gmm": 10.0})
    plan = make_plan(spec, 1, costs={"1000x6-3 +3NF": cost})
    assert plan.clusterer_runs == {"ward": 3, "gmm": 15}
    assert plan.cpu_seconds == 3 + 150
    assert "3 of ward, 15 of gmm" in str(plan)
    assert plan.bytes == 8 * (3 + 15)


def test_pilots_time_clusterers() -> None:
    assert make_plan(spec_of(clusterers=["ward"]), 1).cpu_seconds > 0


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"clusterers": ["gmm"], "restarts": 0}, "gmm starts at random. Give restarts of at least"),
        ({"clusterers": []}, "give at least one part"),
        ({"clusterers": "ward"}, "give a list of clusterers"),
        ({"clusterers": ["ward", "ward"]}, "give each clusterer once"),
        ({"clusterers": ["wrad"]}, "Did you mean 'ward'"),
    ],
)
def test_clusterers_that_a_spec_cannot_have(keys: dict[str, object], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        spec_of(**keys)
