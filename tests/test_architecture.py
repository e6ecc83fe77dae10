"""The structure of the package; the order of its layers is a contract of import-linter in pyproject.toml."""

import ast
import collections
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "bagwise"
MODULES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py"))
FILES = [module for module in MODULES if module.name not in {"__init__.py", "__main__.py"}]
ROLES = {"base", "registry"}  # a base class, or a table of names, of sibling packages
ROLES |= {"attention", "dropout", "pooling"}  # the fused engine names its layers as the modules they compute


def parse(module: Path) -> ast.Module:
    return ast.parse((SOURCE / module).read_text(encoding="utf-8"))


def top(module: Path) -> str:
    return module.parts[0].removesuffix(".py")


def imports(module: Path) -> list[str]:
    """The modules of bagwise that a file imports names from, those of functions included."""
    nodes = [node for node in ast.walk(parse(module)) if isinstance(node, ast.ImportFrom)]
    return [node.module for node in nodes if node.module and node.module.startswith("bagwise.")]


def public_definitions(module: Path) -> list[str]:
    kinds = (ast.FunctionDef, ast.ClassDef)
    return [node.name for node in parse(module).body if isinstance(node, kinds) and not node.name.startswith("_")]


@pytest.mark.parametrize("module", FILES, ids=str)
def test_packages_are_imported_from_not_their_files(module):
    for name in imports(module):
        parts = name.split(".")[1:]
        if parts[0] != top(module) and (SOURCE / parts[0]).is_dir():
            assert SOURCE.joinpath(*parts).is_dir(), f"{module} imports from {name}, a file of another package"


def test_public_names_are_unique():
    """Commands are left out: each carries the name of its command."""
    places = collections.defaultdict(list)
    for module in FILES:
        if top(module) != "cli":
            for name in public_definitions(module):
                places[name].append(str(module))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_module_names_are_unique_except_for_roles():
    places = collections.defaultdict(list)
    for module in FILES:
        if top(module) != "cli":
            places[module.stem].append(str(module))
    assert {stem: found for stem, found in places.items() if len(found) > 1 and stem not in ROLES} == {}


def test_exported_names_differ_from_module_names():
    """Importing the module would replace the name in the package."""
    for stub in SOURCE.rglob("*.pyi"):
        exported = {alias.name for node in ast.parse(stub.read_text()).body for alias in getattr(node, "names", [])}
        modules = {path.stem for path in stub.parent.iterdir()}
        assert exported & modules == set(), stub


def test_architecture_page_lists_the_packages_in_order():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    table = text[text.index("| package | content |") : text.index("## How data flows")]
    named = re.findall(r"^\| `(\w+)` \|", table, flags=re.MULTILINE)
    assert set(named) == {top(module) for module in FILES}
    layers = re.search(r"layers = \[(.*?)\]", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), flags=re.DOTALL)
    assert named == re.findall(r'"(\w+)"', layers[1])[::-1], "the page and import-linter list another order"


def test_package_count_file_count_and_file_length():
    assert len({top(module) for module in FILES}) <= 18
    assert len(MODULES) <= 310
    lengths = {module: len((SOURCE / module).read_text(encoding="utf-8").splitlines()) for module in MODULES}
    assert {module: length for module, length in lengths.items() if length > 350} == {}


@pytest.mark.parametrize("module", FILES, ids=str)
def test_modules_have_a_test_file(module):
    test = ROOT / "tests" / module.parent / f"test_{module.stem}.py"
    assert test.exists(), f"{module} has no {test.relative_to(ROOT)}"


def test_poolings_never_import_bags():
    for module in MODULES:
        if module.is_relative_to("nn/pooling"):
            assert not any(name.startswith("bagwise.bags") for name in imports(module)), module


def test_modules_never_unpickle():
    for module in MODULES:
        text = (SOURCE / module).read_text(encoding="utf-8")
        assert "pickle.load" not in text
        assert "allow_pickle=True" not in text
        for call in re.findall(r"torch\.load\(.*", text):
            assert "weights_only=True" in call, "torch may load weights only"


def test_estimators_never_read_labels_of_bags():
    """Targets arrive as y, so a prediction cannot leak them."""
    for module in MODULES:
        if top(module) in {"estimators", "training", "nn"}:
            for node in ast.walk(parse(module)):
                if isinstance(node, ast.Attribute) and node.attr in {"labels", "instance_labels"}:
                    owner = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
                    assert owner not in {"bags", "X", "others"}, f"{module} reads labels of bags"


def test_only_bag_model_calls_its_encoder():
    """A context follows the encoder, so other modules must call ``BagModel.embed``."""
    for module in MODULES:
        calls = [node.func for node in ast.walk(parse(module)) if isinstance(node, ast.Call)]
        called = {function.attr for function in calls if isinstance(function, ast.Attribute)}
        assert ("encoder" in called) == (module == Path("nn/bag_model.py")), module


CLASS_NAMES = {"n_classes", "is_binary", "two_classes", "ClassTarget", "make_likelihood", "CLASS_METRICS"}
CLASS_TEXTS = r"n_classes|is_binary|two_classes|length === 2|[Cc]lasses\.length|classes ?\| ?length"
MAY_COUNT_CLASSES = {
    "runs/adopted_weights.py": "foreign weights have no target, so one is made",
    "nn/pooling/probability.py": "number of learned thresholds of noisy-and",
    "figures/prediction_plots.py": "rows of a confusion matrix",
    "paper/reproduction_page.py": "the tables of the paper are about classes",
    "bags/splitting.py": "number of strata",
    "data/formats/matlab.py": "length of a column of the file",
}


def counts_classes(node: ast.AST) -> bool:
    names = {getattr(node, "id", None), getattr(node, "attr", None), getattr(node, "arg", None)}
    is_length = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "len"
    counted = node.args[0] if is_length else None
    return bool(names & CLASS_NAMES) or getattr(counted, "attr", getattr(counted, "id", "")) in {"classes", "classes_"}


def test_only_targets_count_classes():
    """All other code asks the target, so that a new kind of target touches no other file."""
    found = {str(module) for module in MODULES if any(map(counts_classes, ast.walk(parse(module))))}
    assert {name for name in found if not name.startswith("targets/")} == set(MAY_COUNT_CLASSES)


def test_pages_do_not_count_classes():
    pages = [
        path for suffix in ("js", "j2", "html") for path in SOURCE.rglob(f"*.{suffix}") if "vendor" not in path.parts
    ]
    assert pages
    assert [str(path) for path in pages if re.search(CLASS_TEXTS, path.read_text(encoding="utf-8"))] == []
