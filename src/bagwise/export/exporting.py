"""A run's model as a folder to hand on.

card.json, card.md   what the model is, how good, and what for
model/               what ``BagEstimator.load`` reads
model.onnx           the same as one graph, where it is asked for
manifest.json        sizes and SHA-256 of all of these
"""

from pathlib import Path

from bagwise.estimators import BagEstimator
from bagwise.export.card import describe_model
from bagwise.export.card_page import card_page
from bagwise.export.onnx_graph import check_packages, write_onnx
from bagwise.files import atomic_folder, write_json
from bagwise.manifests import write_manifest
from bagwise.runs import Run

KIND = "bagwise export"


def export_run(run: Run, folder: str | Path, *, onnx: bool = False) -> list[str]:
    """Write a run's model with its card, and as ONNX if asked; returns the names of the files."""
    if onnx:
        check_packages()
    estimator = BagEstimator.load(run.folder / "model")
    card = describe_model(run)
    with atomic_folder(Path(folder), KIND) as draft:
        write_json(draft / "card.json", card)
        (draft / "card.md").write_text(card_page(card), encoding="utf-8")
        estimator.save(draft / "model")
        if onnx:
            write_onnx(estimator, draft / "model.onnx")
        write_manifest(draft, KIND)
        return sorted(path.relative_to(draft).as_posix() for path in draft.rglob("*") if path.is_file())
