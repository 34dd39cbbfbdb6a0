import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

from pipeline.core.errors import InvalidInputError
from storage.query import chosen_exponents
from tests.storage.grids import cube_of, plain_best

P1, P2 = [1.1, 1.4, 2.0], [1.5, 3.0]


def random_cube(seed: int, **others: NDArray[np.float64]) -> xr.Dataset:
    """Return grids of two configurations, three data sets and two normalisations."""
    rng = np.random.default_rng(seed)
    shape = (2, 3, 2, len(P1), len(P2))
    values = {
        "rescaled_imwk_ari": rng.uniform(-1, 1, size=shape),
        "rescaled_imwk_silhouette": rng.uniform(-1, 1, size=shape),
        **others,
    }
    return cube_of(values, ("1000x6-3", "1000x12-6"), p1=P1, p2=P2)


@pytest.mark.parametrize("seed", range(5))
def test_the_choice_equals_that_of_plain_loops(seed: int) -> None:
    cube = random_cube(seed)
    chosen = chosen_exponents(cube, "rescaled_imwk_ari", "silhouette")
    silhouettes, aris = cube.rescaled_imwk_silhouette.values, cube.rescaled_imwk_ari.values
    for tile in np.ndindex(2, 3, 2):
        best, (row, column) = plain_best(silhouettes[tile])
        found = {name: float(values.values[tile]) for name, values in chosen.items()}
        assert found == {
            "rescaled_imwk_silhouette": best,
            "p1": P1[row],
            "p2": P2[column],
            "ari": aris[tile][row, column],
            "best_ari": aris[tile].max(),
        }


def test_one_pair_for_all_is_chosen_by_the_mean_score() -> None:
    cube = random_cube(9)
    chosen = chosen_exponents(cube, "rescaled_imwk_ari", "silhouette", average=True)
    silhouettes, aris = (
        cube[name].values.mean(axis=1) for name in ("rescaled_imwk_silhouette", "rescaled_imwk_ari")
    )
    for tile in np.ndindex(2, 2):
        best, (row, column) = plain_best(silhouettes[tile])
        here = chosen.isel(config=tile[0], normalisation=tile[1])
        assert float(here.rescaled_imwk_silhouette) == pytest.approx(best)
        assert (float(here.p1), float(here.p2), int(here.datasets)) == (P1[row], P2[column], 3)
        assert float(here.ari) == pytest.approx(aris[tile][row, column])
        assert float(here.best_ari) == pytest.approx(aris[tile].max())


def test_the_mean_of_restarts_is_ranked() -> None:
    silhouettes, aris = [[0.1, 0.9], [0.6, 0.6]], [[0.2, 0.4], [0.7, 0.9]]
    cube = cube_of(
        {
            "rescaled_kmeans_silhouette": np.array(silhouettes)[None, None, None],
            "rescaled_kmeans_ari": np.array(aris)[None, None, None],
        },
        p1=[1.1, 1.4],
        restart=[0, 1],
    )
    chosen = chosen_exponents(cube, "rescaled_kmeans_silhouette", "silhouette").squeeze()
    assert float(chosen.p1) == 1.4
    assert [float(chosen.ari), float(chosen.best_ari)] == pytest.approx([0.8, 0.8])


def test_without_labels_there_is_a_choice_but_no_ari() -> None:
    cube = random_cube(1)
    cube["rescaled_imwk_ari"] = cube.rescaled_imwk_ari.where(cube.config == "1000x6-3")
    chosen = chosen_exponents(cube, "rescaled_imwk_ari", "silhouette")
    assert bool(chosen.p1.notnull().all())
    assert chosen.ari.notnull().any(["dataset", "normalisation"]).values.tolist() == [True, False]
    alone = chosen_exponents(cube.drop_vars("rescaled_imwk_ari"), "rescaled_imwk_ari", "silhouette")
    assert list(alone) == ["rescaled_imwk_silhouette", "p1", "p2"]


def test_the_error_names_a_score_that_was_not_computed() -> None:
    with pytest.raises(InvalidInputError, match="does not name calinski-harabasz among its scores"):
        chosen_exponents(random_cube(1), "rescaled_imwk_ari", "calinski-harabasz")
    with pytest.raises(InvalidInputError, match="Did you mean 'silhouette'"):
        chosen_exponents(random_cube(1), "rescaled_imwk_ari", "silhuette")
