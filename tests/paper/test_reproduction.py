import pytest

from bagwise.comparing.plan import make_plan
from bagwise.errors import InputError
from bagwise.paper import reproduction
from bagwise.paper.recipes import Recipe, Setting
from bagwise.paper.reproduction import chosen_settings, fits, reproduce


def tiny(repeats, quick):
    def plan(seed):
        methods = {"MI-Kernel": {"calibration": 0}, "naive": {}}
        return make_plan("needles", methods, options={"n_bags": 20, "seed": seed}, folds=2)

    names = ["one"] if quick else ["one", "two"]
    return [Setting(name, "table1", "musk1", [plan(draw) for draw in range(repeats)]) for name in names]


@pytest.fixture(autouse=True)
def recipes(monkeypatch):
    monkeypatch.setitem(reproduction.RECIPES, "tiny", Recipe("tiny", "accuracy", False, tiny))


def units(place):
    return sorted(path.relative_to(place).as_posix() for path in place.rglob("units/*/*.json"))


def test_it_goes_on_where_it_stopped_and_more_may_be_added(tmp_path):
    place = reproduce(tmp_path, "tiny", repeats=1, only=["one", "naive"])
    assert units(place) == ["one/draw-0/units/naive/000-000.json", "one/draw-0/units/naive/000-001.json"]
    written = {path: path.stat().st_mtime_ns for path in place.rglob("units/*/*.json")}
    heard = []
    reproduce(tmp_path, "tiny", repeats=2, progress=lambda done, of: heard.append((done, of)))
    assert len(units(place)) == 2 * 2 * 2 * 2
    assert heard[0] == (2, 16)
    assert heard[-1] == (16, 16)
    assert all(path.stat().st_mtime_ns == before for path, before in written.items())


def test_what_was_done_before_is_counted_from_the_beginning(tmp_path):
    reproduce(tmp_path, "tiny", repeats=1, only=["two"])
    heard = []
    reproduce(tmp_path, "tiny", repeats=1, progress=lambda done, of: heard.append((done, of)))
    assert heard == [(4, 8), (5, 8), (6, 8), (7, 8), (8, 8), (8, 8)]


def test_the_quick_version_lies_apart(tmp_path):
    assert reproduce(tmp_path, "tiny", repeats=1, quick=True, only=["naive"]) == tmp_path / "tiny-quick"


def test_settings_and_methods_are_chosen_by_name():
    (setting,) = chosen_settings("tiny", 1, False, ["two", "MI-kernel"])
    assert setting.name == "two"
    assert list(setting.plans[0].methods) == ["MI-Kernel"]
    with pytest.raises(InputError, match="neither a setting nor a method; did you mean 'naive'"):
        chosen_settings("tiny", 1, False, ["naif"])
    with pytest.raises(InputError, match="'EM-DD' is no method of tiny --quick, which has MI-Kernel, naive"):
        chosen_settings("tiny", 1, True, ["EM-DD"])
    with pytest.raises(InputError, match="experiment 'tabel1' is unknown; did you mean 'table1'"):
        chosen_settings("tabel1", 1, False, [])


def test_a_protocol_of_epochs_needs_networks(tmp_path):
    with pytest.raises(InputError, match="none of the methods is a network"):
        reproduce(tmp_path, "tiny", repeats=1, protocol="validation")


def test_fits_are_counted():
    plan = tiny(1, True)[0].plans[0]
    assert fits(plan) == [("MI-Kernel", 0, 0), ("MI-Kernel", 0, 1), ("naive", 0, 0), ("naive", 0, 1)]
    assert len(fits(plan._replace(folds=None))) == 20
    assert len(fits(plan._replace(data="mnist-bags", folds=None))) == 2
