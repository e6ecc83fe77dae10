"""One version: pyproject.toml, the package, CITATION.cff and the newest release in CHANGELOG.md agree."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import bagwise

ROOT = Path(__file__).parents[1]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]


@pytest.mark.parametrize(
    ("file", "line"),
    [("CITATION.cff", r"^version: (\S+)$"), ("CHANGELOG.md", r"^## \[(\d[^]]*)]")],  # [Unreleased] is no release
)
def test_first_version_in_file(file, line):
    found = re.findall(line, (ROOT / file).read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert found[:1] == [VERSION]


def test_package_version_comes_from_pyproject():
    assert bagwise.__version__ == VERSION
    assert "__version__" in dir(bagwise)


def test_import_does_not_read_the_version():
    program = "import bagwise; assert '__version__' not in vars(bagwise)"
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT / "src", check=False).returncode == 0
