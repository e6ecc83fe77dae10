"""Detection of the tool that wrote a folder of features, from its contents. An ambiguous folder is an error."""

from pathlib import Path
from typing import NamedTuple

from bagwise.arguments import choose_by_name
from bagwise.data.formats.clam import Clam
from bagwise.data.formats.feature_folders import FeatureFolder
from bagwise.data.formats.slideflow import Slideflow
from bagwise.data.formats.stamp import Stamp
from bagwise.data.formats.trident import Trident
from bagwise.errors import InputError

TOOLS: dict[str, type[FeatureFolder]] = {"clam": Clam, "trident": Trident, "stamp": Stamp, "slideflow": Slideflow}
MPP_RANGE = (0.001, 1000)


class DetectedFolder(NamedTuple):
    """A folder of features and how its tool was detected.

    Attributes
    ----------
    features : FeatureFolder
        The reader of the folder.
    reason : str
        Why this tool was chosen, e.g. "it has the folder h5_files".
    """

    features: FeatureFolder
    reason: str


def open_feature_folder(
    folder: str | Path, tool: str | None = None, mpp: float | None = None, patches: str | Path | None = None
) -> DetectedFolder:
    """Open a folder of features that another tool extracted.

    Parameters
    ----------
    folder : str or Path
        The folder of feature files.
    tool : {"clam", "trident", "stamp", "slideflow"} or None, default=None
        The tool that wrote the folder; None detects it from the contents.
    mpp : float or None, default=None
        Micrometres per pixel of the slides at level 0. STAMP and slideflow do not store it; if it is None, their
        features have no positions.
    patches : str, Path or None, default=None
        The folder of CLAM's or TRIDENT's patch files; None looks for it beside the features.

    Returns
    -------
    DetectedFolder

    Raises
    ------
    InputError
        If the folder does not exist, or its tool is unknown or ambiguous.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; check the path")
    if patches is not None and not Path(patches).is_dir():
        raise InputError(f"{patches} is not a folder; check --patches")
    if mpp is not None and not MPP_RANGE[0] <= mpp <= MPP_RANGE[1]:
        raise InputError(
            f"mpp must be between {MPP_RANGE[0]} and {MPP_RANGE[1]} micrometres per pixel, got {mpp:g}; "
            "for most 40× scans pass --mpp 0.25"
        )
    kind, reason = _detect_tool(folder) if tool is None else (choose_by_name(tool, TOOLS, "tool"), "--tool was given")
    return DetectedFolder(kind(folder, mpp, None if patches is None else Path(patches)), reason)


def _detect_tool(folder: Path) -> tuple[type[FeatureFolder], str]:
    matches = [(name, kind, reason) for name, kind in TOOLS.items() if (reason := kind.recognise(folder)) is not None]
    if len(matches) == 1:
        _, kind, reason = matches[0]
        return kind, reason
    if matches:
        reasons = " and ".join(f"{kind.tool} ({reason})" for _, kind, reason in matches)
        options = " or ".join(f"--tool {name}" for name, _, _ in matches)
        raise InputError(f"{folder} could be a folder of {reasons}; choose one with {options}")
    raise InputError(
        f"{folder} is not a folder of features of CLAM, TRIDENT, STAMP or slideflow: it has no h5_files, no pt_files, "
        "no h5 file with an encoder attribute or a data set feats, and no bags_config.json; "
        f"check the path, or name the tool with --tool {' | '.join(TOOLS)}"
    )
