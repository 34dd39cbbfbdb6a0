"""Blocks: what to compute of a tile, as coordinates."""

from dataclasses import dataclass, replace

from pipeline.spec.model import SweepSpec, Tile
from pipeline.spec.plugins import has_p1


@dataclass(frozen=True)
class Block:
    """What to compute of a tile: `parts` at every p1, combined with every p2."""

    tile: Tile
    parts: tuple[str, ...]
    p1: tuple[float, ...]
    p2: tuple[float, ...]


def whole_tile(spec: SweepSpec, tile: Tile) -> Block:
    """Return the block of a whole tile of a sweep."""
    return Block(tile, spec.all_parts, spec.p1, spec.p2)


def split_block(block: Block, size: int) -> tuple[Block, ...]:
    """Split a block into independent blocks of at most `size` p1.

    Parameters
    ----------
    block : Block
        For example a whole tile.
    size : int
        Number of p1, at least 1.

    Returns
    -------
    tuple of Block
        In the order of p1. The first one includes the parts that do not depend on p1.

    Examples
    --------
    >>> tile = Tile("1000x6-3", 0, "range")
    >>> parts = split_block(Block(tile, ("kmeans", "imwk"), (1.5, 2.0, 3.0), (2.0,)), size=2)
    >>> [(part.parts, part.p1) for part in parts]
    [(('kmeans', 'imwk'), (1.5, 2.0)), (('imwk',), (3.0,))]
    """
    others = tuple(part for part in block.parts if has_p1(part))
    if not others:
        return (block,)
    return tuple(
        replace(
            block,
            p1=block.p1[first : first + size],
            parts=others if first else block.parts,
        )
        for first in range(0, len(block.p1), size)
    )
