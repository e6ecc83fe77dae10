"""What runs the documentation: no block slips through, and a command that is none is found."""

from textwrap import dedent

import pytest

from documented import blocks, commands, parse, run_page

PAGE = dedent("""\
    # A page

    ```python
    found = 6 * 7
    ```

    <!-- parsed only: it needs your slides -->
    ```bash
    bagwise tile slides/ \\
        --out tiles/  # a comment
    ```

    ```python
    assert found == 42
    ```
    """)


def test_blocks_keep_order_and_line_numbers():
    found = blocks(PAGE)
    assert [block.language for block in found] == ["python", "bash", "python"]
    assert [PAGE.splitlines()[block.line - 1] for block in found] == [block.text.splitlines()[0] for block in found]
    assert [block.parsed_only for block in found] == [False, True, False]


@pytest.mark.parametrize("odd", ["- a list\n\n  ```python\n  1 / 0\n  ```\n", "``` { .python }\n1 / 0\n```\n"])
def test_blocks_reject_fences_that_would_not_run(odd):
    with pytest.raises(AssertionError, match="not understood"):
        blocks(PAGE + odd)


def test_commands_join_lines_and_drop_comments():
    assert commands(blocks(PAGE)) == [["tile", "slides/", "--out", "tiles/"]]


@pytest.mark.parametrize(
    "typed", ["tile slides/ --uot tiles/", "tiel slides/", "data", "train digits runs/x --heads x"]
)
def test_parse_finds_unknown_commands(typed):
    with pytest.raises(Exception, match=r"(?i)option|tiel|values|integer"):
        parse(typed.split())


def test_run_page_blocks_share_their_names(tmp_path):
    (tmp_path / "page.md").write_text(PAGE, encoding="utf-8")
    run_page(tmp_path / "page.md", tmp_path)
    (tmp_path / "page.md").write_text(PAGE.replace("42", "43"), encoding="utf-8")
    with pytest.raises(AssertionError):
        run_page(tmp_path / "page.md", tmp_path)


def test_run_page_restores_registries(tmp_path):
    from bagwise.nn.pooling.registry import POOLINGS

    before = dict(POOLINGS)
    text = "```python\nfrom bagwise.nn.pooling import POOLINGS\n\nPOOLINGS['mine'] = POOLINGS.pop('max')\n```\n"
    (tmp_path / "page.md").write_text(text, encoding="utf-8")
    run_page(tmp_path / "page.md", tmp_path)
    assert before == POOLINGS


def test_run_page_fails_with_a_failing_command(tmp_path):
    (tmp_path / "page.md").write_text("```bash\nbagwise check nowhere/\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match=r"page\.md:2 check nowhere/"):
        run_page(tmp_path / "page.md", tmp_path)
