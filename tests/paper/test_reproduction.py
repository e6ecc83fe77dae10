import pytest

from bagwise.errors import InputError
from bagwise.evaluation.comparison.plan import make_plan
from bagwise.paper import recipes
from bagwise.paper.experiments import Recipe, Setting
from bagwise.paper.reproduction import choose_settings, list_fits, reproduce_experiment


def make_tiny_settings(repeats, quick):
    def make_tiny_plan(seed):
        methods = {"MI-Kernel": {"calibration": False}, "naive": {}}
        return make_plan("needles", methods, options={"n_bags": 20, "seed": seed}, folds=2)

    names = ["one"] if quick else ["one", "two"]
    return [
        Setting(name=name, table="table1", column="musk1", plans=[make_tiny_plan(draw) for draw in range(repeats)])
        for name in names
    ]


def make_reserved_settings(repeats, quick):
    tiny, reserved = make_tiny_settings(repeats, quick=False)
    (plan,) = reserved.plans
    plan = plan._replace(data="digits", methods={"naive": {}})
    return [tiny, reserved._replace(plans=[plan], on_request=True), reserved._replace(name="three", plans=[plan])]


@pytest.fixture(autouse=True)
def tiny_recipe(monkeypatch):
    recipe = Recipe(title="tiny", metric="accuracy", pooled=False, settings=make_tiny_settings)
    monkeypatch.setitem(recipes.RECIPES, "tiny", recipe)
    monkeypatch.setitem(recipes.RECIPES, "reserved", recipe._replace(settings=make_reserved_settings, repeats=1))


def list_units(folder):
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("units/*/*.json"))


def test_reproduce_experiment_adds_settings_methods_and_repeats(tmp_path):
    folder = reproduce_experiment(tmp_path, "tiny", repeats=1, only=["one", "naive"])
    assert list_units(folder) == ["one/draw-0/units/naive/000-000.json", "one/draw-0/units/naive/000-001.json"]
    written = {path: path.stat().st_mtime_ns for path in folder.rglob("units/*/*.json")}
    reported = []
    reproduce_experiment(tmp_path, "tiny", repeats=2, progress=lambda done, total: reported.append((done, total)))
    assert len(list_units(folder)) == 2 * 2 * 2 * 2
    assert reported[0] == (2, 16)
    assert reported[-1] == (16, 16)
    assert all(path.stat().st_mtime_ns == before for path, before in written.items())


def test_reproduce_experiment_reports_progress_including_earlier_fits(tmp_path):
    reproduce_experiment(tmp_path, "tiny", repeats=1, only=["two"])
    reported = []
    reproduce_experiment(tmp_path, "tiny", repeats=1, progress=lambda done, total: reported.append((done, total)))
    assert reported == [(4, 8), (5, 8), (6, 8), (7, 8), (8, 8), (8, 8)]


def test_reproduce_experiment_writes_the_quick_version_to_another_folder(tmp_path):
    folder = reproduce_experiment(tmp_path, "tiny", repeats=1, quick=True, only=["naive"])
    assert folder == tmp_path / "tiny-quick"


def test_reproduce_experiment_rejects_a_protocol_without_networks(tmp_path):
    with pytest.raises(InputError, match=r"none of the methods is a network.*'validation'; leave --protocol out"):
        reproduce_experiment(tmp_path, "tiny", repeats=1, protocol="validation")


def test_choose_settings_selects_settings_and_methods_by_name():
    (setting,) = choose_settings("tiny", 1, False, ["two", "MI-kernel"])
    assert setting.name == "two"
    assert list(setting.plans[0].methods) == ["MI-Kernel"]


@pytest.mark.parametrize(
    ("only", "names"),
    [
        ([], ["one", "three"]),
        (["two"], ["two"]),
        (["digits"], ["two", "three"]),
        (["digits", "two"], ["two", "three"]),
        (["naive"], ["one", "three"]),
        (["MI-Kernel"], ["one"]),
        (["needles", "naive"], ["one"]),
    ],
)
def test_choose_settings_selects_by_data_set_and_leaves_out_settings_on_request(only, names):
    assert [setting.name for setting in choose_settings("reserved", 1, False, only)] == names


def test_choose_settings_rejects_a_method_that_the_settings_lack():
    with pytest.raises(InputError, match="--only: two do not have MI-Kernel; leave out the one or the other"):
        choose_settings("reserved", 1, False, ["two", "MI-Kernel"])


def test_reproduce_experiment_has_the_repeats_of_the_recipe_by_default(tmp_path):
    folder = reproduce_experiment(tmp_path, "reserved", only=["one", "naive"])
    assert [path.name for path in folder.glob("one/*")] == ["draw-0"]


@pytest.mark.parametrize(
    ("experiment", "quick", "only", "message"),
    [
        ("tiny", False, ["naif"], "--only: 'naif' is neither a setting nor a method; did you mean 'naive'"),
        ("tiny", True, ["EM-DD"], "'EM-DD' is not a method of tiny --quick; choose among MI-Kernel, naive"),
        ("tabel1", False, [], "'tabel1'.*did you mean 'table1'"),
    ],
)
def test_choose_settings_rejects_unknown_names(experiment, quick, only, message):
    with pytest.raises(InputError, match=message):
        choose_settings(experiment, 1, quick, only)


def test_list_fits_has_every_method_repeat_and_fold():
    plan = make_tiny_settings(1, True)[0].plans[0]
    assert list_fits(plan) == [("MI-Kernel", 0, 0), ("MI-Kernel", 0, 1), ("naive", 0, 0), ("naive", 0, 1)]
    assert len(list_fits(plan._replace(folds=None))) == 20
    assert len(list_fits(plan._replace(data="mnist-bags", folds=None))) == 2
