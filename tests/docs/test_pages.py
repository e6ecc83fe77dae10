"""Documentation runs: every page in an empty folder, from its first block to its last."""

import re

import pytest

from documented import ROOT, blocks, commands, parse, run_page

DOCS = ROOT / "docs"
PAGES = sorted(path.relative_to(DOCS).as_posix() for path in DOCS.rglob("*.md"))
EXAMPLE = re.compile(r'--8<-- "examples/(\w+\.py)"\n')


def blocks_of(page):
    return blocks((DOCS / page).read_text(encoding="utf-8"))


@pytest.mark.parametrize("page", PAGES)
def test_run_page_runs_every_block(page, tmp_path):
    run_page(DOCS / page, tmp_path)


@pytest.mark.parametrize("page", PAGES)
def test_commands_of_every_page_parse(page):
    for words in commands(blocks_of(page)):
        assert parse(words)


def test_blocks_of_every_page_have_a_language_that_is_checked():
    """Python and commands run, text is read; `py` shows an example of the repository, which has a test of its own."""
    for page in PAGES:
        for block in blocks_of(page):
            assert block.language in {"python", "bash", "text", "py"}, f"{page}:{block.line}"
            assert block.language != "py" or EXAMPLE.fullmatch(block.text), f"{page}:{block.line}"
            assert block.language != "text" or "bagwise " not in block.text, f"{page}:{block.line}"


def test_examples_page_shows_every_example():
    shown = {EXAMPLE.fullmatch(block.text)[1] for block in blocks_of("examples.md")}
    assert shown == {path.name for path in (ROOT / "examples").glob("*.py")}
