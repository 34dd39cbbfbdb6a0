"""Grids of exponents, and what a tile that is complete for one grid lacks for a larger one."""

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.spec import SweepSpec, Tile
from pipeline.spec.blocks import Block
from pipeline.spec.plugins import has_p1


@dataclass(frozen=True)
class Grid:
    """The exponents of a spec. The attributes of a cube list its first grid and its extensions."""

    p1: tuple[float, ...]
    p2: tuple[float, ...]

    @classmethod
    def of(cls, spec: SweepSpec) -> "Grid":
        """Return the grid of a spec."""
        return cls(spec.p1, spec.p2)


def needs(tile: Tile, stored: Grid | None, wanted: Grid, parts: Sequence[str]) -> tuple[Block, ...]:
    r"""Return the blocks that a tile lacks for the grid `wanted`.

    Parameters
    ----------
    tile : Tile
        The tile.
    stored : Grid or None
        The grid that the tile is complete for; None if it has no results.
    wanted : Grid
        At least the exponents of `stored`.
    parts : sequence of str
        The parts of the sweep.

    Returns
    -------
    tuple of Block
        New p1 with all p2, and old p1 with new p2; no cell twice. Empty if the tile is complete.

    Examples
    --------
    >>> tile, stored, wanted = Tile("1000x6-3", 0, "range"), Grid((2,), (2,)), Grid((1, 2), (2, 3))
    >>> for block in needs(tile, stored, wanted, ["kmeans", "imwk", "rescaled_imwk"]):
    ...     print(block.p1, block.p2, block.parts)
    (1,) (2, 3) ('imwk', 'rescaled_imwk')
    (2,) (3,) ('rescaled_imwk',)
    """
    if stored is None:
        return (Block(tile, tuple(parts), wanted.p1, wanted.p2),)
    new_p1 = tuple(p for p in wanted.p1 if p not in stored.p1)
    new_p2 = tuple(p for p in wanted.p2 if p not in stored.p2)
    with_p1 = tuple(part for part in parts if has_p1(part))
    with_p2 = tuple(part for part in parts if part == "rescaled_imwk")
    lacking = (Block(tile, with_p1, new_p1, wanted.p2), Block(tile, with_p2, stored.p1, new_p2))
    return tuple(block for block in lacking if block.p1 and block.p2 and block.parts)
