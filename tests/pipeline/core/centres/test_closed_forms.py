import numpy as np
import pytest

from pipeline.core.centres import CENTRES, CentreMethod
from pipeline.core.segments import Groups


@pytest.mark.usefixtures("as_public_functions_call")
@pytest.mark.parametrize("find_centres", CENTRES.values(), ids=list(CENTRES))
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("p", [1.0, 1.03, 1.5, 2.0, 3.0])
def test_a_lone_member_is_its_own_centre(p: float, dtype: str, find_centres: CentreMethod) -> None:
    counts = np.array([1, 3, 1, 1, 20, 1])
    columns = np.random.default_rng(1).normal(size=(4, counts.sum())).astype(dtype)
    centres, dispersions, _ = find_centres(Groups(columns, counts), np.full(len(counts), p))
    alone = counts == 1
    assert (centres[:, alone] == columns[:, np.repeat(alone, counts)]).all()
    assert (dispersions[:, alone] == 0).all()
    assert (dispersions[:, ~alone] > 0).all()
