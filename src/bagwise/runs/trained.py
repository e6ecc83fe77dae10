"""A trained model, wherever it lies: in a run, in an exported folder, or alone."""

from pathlib import Path

from bagwise.estimators import BagEstimator
from bagwise.estimators.saving import DESCRIPTION
from bagwise.files import MANIFEST, read_json
from bagwise.runs.run import KIND, Run


def load_model(folder: str | Path) -> BagEstimator:
    """The model of a run, of ``bagwise export``, or of ``save``."""
    folder = Path(folder)
    if (folder / DESCRIPTION).is_file():
        return BagEstimator.load(folder)
    if (folder / MANIFEST).is_file() and _kind(folder) != KIND and (folder / "model" / DESCRIPTION).is_file():
        return BagEstimator.load(folder / "model")
    return BagEstimator.load(Run(folder).folder / "model")


def _kind(folder: Path) -> object:
    manifest = read_json(folder / MANIFEST)
    return manifest.get("kind") if isinstance(manifest, dict) else None
