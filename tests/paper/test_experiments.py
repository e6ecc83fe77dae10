import pytest

from bagwise.paper.experiments import Recipe, Setting

RECIPE = Recipe(title="a title", metric="auc", pooled=False, settings=lambda repeats, quick: [], repeats=3)


def test_setting_name_row_replaces_names_of_methods():
    setting = Setting(name="one", table="one", column=None, plans=[], rows={"gated attention": "new"})
    assert [setting.name_row(method) for method in ("gated attention", "naive")] == ["new", "naive"]


@pytest.mark.parametrize(
    ("repeats", "quick", "expected"), [(None, False, 3), (None, True, 1), (2, False, 2), (2, True, 2)]
)
def test_recipe_count_repeats_prefers_the_given_number(repeats, quick, expected):
    assert RECIPE.count_repeats(repeats, quick) == expected
