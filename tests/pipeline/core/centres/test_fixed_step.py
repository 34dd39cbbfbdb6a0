import numpy as np
import pytest

from pipeline.core import minkowski_centre
from tests import reference


@pytest.mark.parametrize("seed", range(30))
def test_fixed_step_centre_takes_the_same_walk(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, p = rng.gamma(2.0, size=(int(rng.integers(2, 80)), 5)) / 8, float(rng.uniform(1.2, 5))
    found = minkowski_centre(X, p, "fixed-step")
    np.testing.assert_allclose(found, reference.fixed_step_centre(X, p), rtol=0, atol=1e-12)
