"""tools/lowest_versions.py turns the declared minimum versions into pins."""

import runpy

import pytest

from documented import ROOT

lowest_versions = runpy.run_path(str(ROOT / "tools" / "lowest_versions.py"))["lowest_versions"]


def project(**changes):
    extras = {"fast": ["numba>=0.60"], "test": ["bagwise[fast]", "mkdocstrings[python]>=1.0"]}
    return {"name": "bagwise", "dependencies": ["torch>=2.6,<2.14"], "optional-dependencies": extras} | changes


def test_lowest_versions_pins_minimums_of_every_extra_and_torch_as_tested():
    pins = lowest_versions(project(), "# tested\ntoolz==1.2.0\ntorch==2.13.0\n")
    assert pins == ["mkdocstrings==1.0", "numba==0.60", "torch==2.13.0"]


@pytest.mark.parametrize("requirement", ["numpy", "numpy<3", "numpy==2.0"])
def test_lowest_versions_rejects_a_dependency_without_minimum(requirement):
    with pytest.raises(SystemExit, match="declares no minimum version"):
        lowest_versions(project(dependencies=[requirement]), "torch==2.13.0\n")
