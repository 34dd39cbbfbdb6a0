"""Random streams by coordinates, so that results depend on the sweep's spec alone.

Every random number is derived from the sweep's seed and the coordinates of what is computed
(which data set, which restart), never from the order or place of the computation. Therefore the
number of workers, the order of tasks, crashes and later extensions do not change any bit.
"""

import hashlib
import json

import numpy as np
from numpy.random import SeedSequence

from pipeline.core.validation import as_whole_number


def seed_sequence(seed: int, *coordinates: str | int) -> SeedSequence:
    """Return the seed of the random stream for given coordinates.

    Parameters
    ----------
    seed : int
        The sweep's seed, at least 0.
    *coordinates : str or int
        What is computed: for example a configuration, the index of a data set, an exponent.

    Returns
    -------
    numpy.random.SeedSequence
        Equal for equal arguments on every machine, and independent of all others.

    Examples
    --------
    >>> seed_sequence(2020, "1000x6-3", 7).generate_state(2).tolist()
    [2955909504, 2576312491]
    """
    digest = hashlib.sha256(json.dumps(coordinates, default=int).encode()).digest()
    key = np.frombuffer(digest[:16], dtype="<u4").tolist()
    return SeedSequence(as_whole_number(seed, "seed", 0), spawn_key=key)
