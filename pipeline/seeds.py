"""Random streams by coordinates: the promise that results depend on the sweep's spec alone.

Every random number comes from the sweep's seed and the coordinates of the thing computed (which
data set, which restart), never from the order or the place of computing. So the number of
workers, the order of tasks, a crash or a later extension change no bit.
"""

import hashlib
import json

import numpy as np
from numpy.random import SeedSequence

from pipeline.core.validation import as_whole_number


def seed_sequence(seed: int, *coordinates: str | int) -> SeedSequence:
    """Return the random stream of the thing at `coordinates`.

    Parameters
    ----------
    seed : int
        The sweep's seed, at least 0.
    *coordinates : str or int
        What names the thing: a configuration, the index of a data set, an exponent's rank.

    Returns
    -------
    numpy.random.SeedSequence
        The same for the same arguments on every machine; independent of all others.

    Examples
    --------
    >>> seed_sequence(2020, "1000x6-3", 7).generate_state(2).tolist()
    [2955909504, 2576312491]
    """
    digest = hashlib.sha256(json.dumps(coordinates, default=int).encode()).digest()
    key = np.frombuffer(digest[:16], dtype="<u4").tolist()
    return SeedSequence(as_whole_number(seed, "seed", 0), spawn_key=key)
