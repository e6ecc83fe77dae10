"""Which tool wrote a folder of features: found by what the folder holds, and said; two answers are an error."""

from pathlib import Path
from typing import NamedTuple

from bagwise.errors import InputError
from bagwise.formats.clam import Clam
from bagwise.formats.contract import FeatureFolder
from bagwise.formats.slideflow import Slideflow
from bagwise.formats.stamp import Stamp
from bagwise.formats.trident import Trident
from bagwise.names import choose

TOOLS: dict[str, type[FeatureFolder]] = {"clam": Clam, "trident": Trident, "stamp": Stamp, "slideflow": Slideflow}


class Found(NamedTuple):
    """A folder of features, and why it is taken for its tool's."""

    features: FeatureFolder
    reason: str


def open_features(
    folder: str | Path, tool: str | None = None, mpp: float | None = None, patches: str | Path | None = None
) -> Found:
    """Open a folder of features.

    tool : clam, trident, stamp or slideflow, where it cannot or should not be found out
    mpp : micrometres a level-0 pixel of the slides, for STAMP and slideflow
    patches : the folder of CLAM's or TRIDENT's patch files, where it is not in its usual place
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; check the path")
    if patches is not None and not Path(patches).is_dir():
        raise InputError(f"{patches} is not a folder; check --patches")
    if mpp is not None and not 0.001 <= mpp <= 1000:
        raise InputError(f"mpp = {mpp:g}; give micrometres a pixel, e.g. 0.25")
    kind, reason = _recognised(folder) if tool is None else (choose(tool, TOOLS, "tool"), "you said so")
    return Found(kind(folder, mpp, None if patches is None else Path(patches)), reason)


def _recognised(folder: Path) -> tuple[type[FeatureFolder], str]:
    reasons = [(kind, reason) for kind in TOOLS.values() if (reason := kind.recognise(folder)) is not None]
    if len(reasons) == 1:
        return reasons[0]
    if reasons:
        listed = ", and ".join(f"{kind.tool}'s ({reason})" for kind, reason in reasons)
        raise InputError(f"{folder} looks like {listed}; say whose it is with --tool")
    raise InputError(
        f"{folder} is not a folder of features of CLAM, TRIDENT, STAMP or slideflow: no h5_files, no pt_files, "
        f"no h5 file with an encoder or with feats, no bags_config.json; say whose it is with --tool"
    )
