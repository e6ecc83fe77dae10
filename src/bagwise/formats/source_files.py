"""Which files decide what is read of a slide: their bytes tell whether what was read before still holds."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from bagwise.files import sha256
from bagwise.formats.clam import Clam
from bagwise.formats.contract import FeatureFolder
from bagwise.formats.slideflow import CONFIG, INDEX, Slideflow
from bagwise.formats.stamp import Stamp
from bagwise.formats.trident import Trident

Places = list[list[Path]]  # of each list the first file that is there is read


def source_hashes(features: FeatureFolder, slide: str) -> list[str | None]:
    """The SHA-256 of each file that is read for a slide; None where the tool has none."""
    return [None if file is None else sha256(file) for file in source_files(features, slide)]


def source_files(features: FeatureFolder, slide: str) -> list[Path | None]:
    """The files that are read for a slide, each in its place; None for one that is not there."""
    places = PLACES[type(features)](features, slide)
    return [next((path for path in paths if path.is_file()), None) for paths in places]


def _clam(features: Any, slide: str) -> Places:
    near = (features.folder, features.folder.parent, features.folder.parent.parent)
    patches = [folder / "patches" for folder in near] if features.patches is None else [features.patches]
    return [
        [folder / f"{slide}.h5" for folder in patches],
        [folder / f"{slide}{suffix}" for folder, suffix in features._places()],
    ]


def _trident(features: Any, slide: str) -> Places:
    folder = features._features()
    patches = features.patches or folder.parent / "patches"
    return [[folder / f"{slide}.h5"], [patches / f"{slide}_patches.h5"]]


def _stamp(features: Any, slide: str) -> Places:
    return [[features._paths[slide]]]


def _slideflow(features: Any, slide: str) -> Places:
    return [[features.folder / name] for name in (f"{slide}.pt", f"{slide}{INDEX}", CONFIG)]


PLACES: dict[type[FeatureFolder], Callable[[Any, str], Places]] = {
    Clam: _clam,
    Trident: _trident,
    Stamp: _stamp,
    Slideflow: _slideflow,
}
