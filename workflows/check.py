"""Check a cube: whether its files are complete, and whether tiles can be reproduced."""

from dataclasses import asdict, dataclass
from typing import Any

from storage import CubeLocation, Verification, read_spec, verify_cube
from storage.compatibility import refuse_other_rules
from workflows.recompute import Recomputation, recompute
from workflows.terminal import counted


@dataclass(frozen=True)
class Check:
    """The results of reading all files, and of computing some tiles again."""

    files: Verification
    again: Recomputation

    @property
    def is_bad(self) -> bool:
        """Whether tiles are damaged, or differ although they must be equal."""
        return bool(self.files.damaged or (self.again.same_machine and self.again.different))


def check(location: CubeLocation, *, repair: bool, recompute_tiles: int) -> Check:
    """Read the whole cube, then compute some of its tiles again."""
    if recompute_tiles:  # refuse before the cube is read, and perhaps repaired
        refuse_other_rules(location, read_spec(location))
    files = verify_cube(location, repair=repair)
    return Check(files, recompute(location, recompute_tiles, files.damaged))


def check_facts(found: Check) -> dict[str, Any]:
    """Return the results as a dict for JSON."""
    again = found.again
    return {
        "checked": found.files.checked,
        "repaired": found.files.repaired,
        "damaged": [
            {**asdict(tile), "reasons": reasons} for tile, reasons in found.files.damaged.items()
        ],
        "recomputed": [{**asdict(tile), "equal": share} for tile, share in again.equal.items()],
        "same_machine": again.same_machine,
    }


def check_words(found: Check) -> str:
    """Return the results as text, with a line for each tile that is damaged or differs."""
    files, again = found.files, found.again
    lines = [f"{tile}: {'; '.join(reasons)}" for tile, reasons in files.damaged.items()]
    read = counted(files.checked, "tile")
    lines.append(f"{read} read, {len(files.damaged)} damaged{_remedy(files)}")
    if again.equal:
        lines += [f"{tile}: {again.equal[tile]:.2%} equal" for tile in again.different]
        lines.append(f"{counted(len(again.equal), 'tile')} computed again: {_verdict(again)}")
    return "\n".join(lines)


def _remedy(files: Verification) -> str:
    if not files.damaged:
        return "."
    if files.repaired:
        return " and marked as missing. Submit the sweep again to compute them."
    return ". Mark them as missing with repair (--repair), then submit the sweep again."


def _verdict(again: Recomputation) -> str:
    if not again.different:
        return "all equal, bit for bit."
    share = f"{again.share:.2%} of the values are equal"
    if again.same_machine:
        return f"{share}. All must be: the cube was changed, or this machine computes wrongly."
    return (
        f"{share}. The cube was computed with other CPU features or another NumPy, or these are "
        "unknown, so the last bits may be rounded differently."
    )
