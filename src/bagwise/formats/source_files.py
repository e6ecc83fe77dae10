"""Which files decide what is read of a slide: their bytes tell whether what was read before still holds."""

from pathlib import Path

from bagwise.files import sha256
from bagwise.formats.contract import FeatureFolder


def source_hashes(features: FeatureFolder, slide: str) -> list[str | None]:
    """The SHA-256 of each file that is read for a slide; None where the tool has none."""
    return [None if file is None else sha256(file) for file in source_files(features, slide)]


def source_files(features: FeatureFolder, slide: str) -> list[Path | None]:
    """The files that are read for a slide, each in its place; None for one that is not there."""
    return [next((path for path in paths if path.is_file()), None) for paths in features.sources(slide)]
