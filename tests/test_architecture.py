"""The shape of the house: imports point down only, and every module has its test."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "bagwise"
ORDER = [
    ["errors", "metric_names", "decisions"],
    ["names", "quantities", "locks", "drafts", "files", "claims", "manifests", "randomness", "places"],
    ["segments", "dropout"],
    ["bags"],
    ["curves", "likelihoods", "inputs", "encoders", "writing", "storage", "splits", "folds", "figures", "working"],
    ["pooling"],
    ["formats", "slides"],
    ["augmentation"],
    ["connections"],
    ["models"],
    ["datasets"],
    ["sources", "training"],
    ["estimators"],
    ["evaluation", "explain", "published"],
    ["runs"],
    ["comparing", "summary"],
    ["showing"],
    ["report", "paper", "viewer", "export"],
    ["cli"],
]
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}
MODULES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py"))
ENTRANCES = {"__init__.py", "__main__.py"}


def room(module: Path) -> str:
    return module.parts[0].removesuffix(".py")


def imported_rooms(module: Path) -> set[str]:
    tree = ast.parse((SOURCE / module).read_text(encoding="utf-8"))
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("bagwise.")} & LEVEL.keys()


@pytest.mark.parametrize("module", [m for m in MODULES if str(m) not in ENTRANCES], ids=str)
def test_imports_point_down(module):
    own = room(module)
    assert own in LEVEL, f"give {own} a place in ORDER"
    for other in imported_rooms(module) - {own}:
        assert LEVEL[other] <= LEVEL[own], f"{module} imports {other}, which stands above it"


@pytest.mark.parametrize("module", [m for m in MODULES if m.name not in ENTRANCES], ids=str)
def test_every_module_has_its_test(module):
    test = ROOT / "tests" / module.parent / f"test_{module.stem}.py"
    assert test.exists(), f"{module} has no {test.relative_to(ROOT)}"


def test_pooling_never_sees_bags_and_figures_never_see_a_model():
    for module in MODULES:
        rooms = imported_rooms(module)
        if room(module) == "pooling":
            assert "bags" not in rooms
        if room(module) == "figures":
            assert not rooms & {"models", "estimators", "training"}


def test_nothing_is_unpickled():
    for module in MODULES:
        text = (SOURCE / module).read_text(encoding="utf-8")
        assert "pickle.load" not in text
        assert "allow_pickle=True" not in text
        for call in re.findall(r"torch\.load\(.*", text):
            assert "weights_only=True" in call, "torch may load weights only"


def test_estimators_never_read_the_labels_that_bags_carry():
    """Targets arrive as y, so a prediction cannot leak them."""
    for module in MODULES:
        if room(module) in {"estimators", "training", "models", "pooling"}:
            tree = ast.parse((SOURCE / module).read_text(encoding="utf-8"))
            for node in ast.walk(tree):
                if isinstance(node, ast.Attribute) and node.attr in {"labels", "instance_labels"}:
                    owner = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
                    assert owner not in {"bags", "X", "others"}, f"{module} reads labels of bags"
