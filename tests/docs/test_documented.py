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


def test_blocks_come_in_their_order_with_their_lines():
    found = blocks(PAGE)
    assert [block.language for block in found] == ["python", "bash", "python"]
    assert [PAGE.splitlines()[block.line - 1] for block in found] == [block.text.splitlines()[0] for block in found]
    assert [block.parsed_only for block in found] == [False, True, False]


@pytest.mark.parametrize("odd", ["- a list\n\n  ```python\n  1 / 0\n  ```\n", "``` { .python }\n1 / 0\n```\n"])
def test_a_fence_that_would_not_be_run_is_refused(odd):
    with pytest.raises(AssertionError, match="not understood"):
        blocks(PAGE + odd)


def test_commands_go_over_lines_and_lose_their_comments():
    assert commands(blocks(PAGE)) == [["tile", "slides/", "--out", "tiles/"]]


@pytest.mark.parametrize(
    "typed", ["tile slides/ --uot tiles/", "tiel slides/", "data", "train digits runs/x --epochs x"]
)
def test_a_command_that_is_none_is_found(typed):
    with pytest.raises(Exception, match=r"(?i)option|tiel|values|integer"):
        parse(typed.split())


def test_blocks_of_a_page_share_their_names(tmp_path):
    (tmp_path / "page.md").write_text(PAGE, encoding="utf-8")
    run_page(tmp_path / "page.md", tmp_path)
    (tmp_path / "page.md").write_text(PAGE.replace("42", "43"), encoding="utf-8")
    with pytest.raises(AssertionError):
        run_page(tmp_path / "page.md", tmp_path)


def test_what_a_page_adds_to_tables_is_gone_with_it(tmp_path):
    from bagwise.pooling import POOLINGS

    before = dict(POOLINGS)
    text = "```python\nfrom bagwise.pooling import POOLINGS\n\nPOOLINGS['mine'] = POOLINGS.pop('max')\n```\n"
    (tmp_path / "page.md").write_text(text, encoding="utf-8")
    run_page(tmp_path / "page.md", tmp_path)
    assert before == POOLINGS


def test_a_command_that_fails_fails_the_page(tmp_path):
    (tmp_path / "page.md").write_text("```bash\nbagwise check nowhere/\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match=r"page\.md:2 check nowhere/"):
        run_page(tmp_path / "page.md", tmp_path)
