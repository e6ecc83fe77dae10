import pytest

from bagwise.paper.published import published
from bagwise.paper.recipes import RECIPES


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("quick", [False, True])
def test_every_published_number_has_a_setting_that_measures_it(name, quick):
    settings = [setting for setting in RECIPES[name].settings(2, quick) if setting.comparable]
    for setting in settings:
        wanted = {method for method, column in published(setting.table) if setting.column in (None, column)}
        assert wanted
        assert all(wanted <= plan.methods.keys() for plan in setting.plans)
    if not quick:
        covered = {(setting.table, setting.column) for setting in settings}
        columns = {(table, column) for table in {t for t, _ in covered} for _, column in published(table)}
        assert all({(table, column), (table, None)} & covered for table, column in columns)


@pytest.mark.parametrize("name", RECIPES)
def test_settings_have_names_of_their_own(name):
    names = [setting.name for setting in RECIPES[name].settings(1, False)]
    assert len(set(names)) == len(names)
