"""Every method and every pooling has a page of its own name, and there are no other pages."""

import re

import pytest

from bagwise.estimators.registry import METHODS
from bagwise.nn.pooling.registry import POOLINGS
from documented import ROOT, blocks

DOCS = ROOT / "docs"
FAMILIES = {"methods": METHODS, "poolings": POOLINGS}
SHORTEST, LONGEST = 15, 45  # lines of a page
MOST = 30  # lines that add a pooling, an estimator or a data set


def pages(family):
    found = (DOCS / family).glob("*.md")
    return {_title(path): path for path in found if path.name != "index.md"}


def _title(path):
    return path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")


@pytest.mark.parametrize("family", FAMILIES)
def test_pages_exist_for_every_name(family):
    assert pages(family).keys() == FAMILIES[family].keys()


@pytest.mark.parametrize("family", FAMILIES)
def test_pages_have_equation_example_and_reference(family):
    for title, path in pages(family).items():
        text = path.read_text(encoding="utf-8")
        assert [block.language for block in blocks(text)] == ["text", "python"], title
        assert SHORTEST <= len(text.splitlines()) <= LONGEST, title
        assert "**When to use it.**" in text, title
        assert "**Reference.**" in text, title


@pytest.mark.parametrize("family", FAMILIES)
def test_navigation_uses_the_title_of_each_page(family):
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = dict(re.findall(rf"- (.+): {family}/(.+\.md)$", navigation, flags=re.MULTILINE))
    assert named == {title: path.name for title, path in pages(family).items()}


@pytest.mark.parametrize("what", ["pooling", "estimator", "dataset"])
def test_extension_guides_are_short(what):
    first = next(
        block for block in blocks((DOCS / "extend" / f"{what}.md").read_text("utf-8")) if block.language == "python"
    )
    assert len([line for line in first.text.splitlines() if line.strip()]) <= MOST
