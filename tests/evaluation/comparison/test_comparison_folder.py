import shutil

import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.evaluation.comparison.comparison_folder import Comparison
from bagwise.evaluation.cross_validation import get_metric_values
from bagwise.evaluation.intervals import compare_paired
from resealing import reseal


def test_comparison_units_of_a_repeat_test_every_bag_once(comparison):
    units = [unit for unit in comparison.units["naive"] if unit["repeat"] == 0]
    assert sorted(np.concatenate([unit["rows"] for unit in units])) == list(range(24))


def test_comparison_rejects_a_damaged_plan_by_name(tmp_path):
    (tmp_path / "plan.json").write_text("[]")
    with pytest.raises(InputError, match=r"plan\.json is damaged"):
        Comparison(tmp_path)


def test_comparison_rejects_a_damaged_unit_by_name(comparison, tmp_path):
    shutil.copytree(comparison.folder, tmp_path / "copy")
    path = next((tmp_path / "copy").rglob("units/naive/*.json"))
    path.write_text("{}")
    reseal(tmp_path / "copy")
    with pytest.raises(InputError, match=rf"{path.name} is damaged: it is not the unit of a comparison"):
        _ = Comparison(tmp_path / "copy").units


def test_differences_compare_every_pair_on_the_same_folds(comparison):
    pairs = comparison.differences("accuracy")
    assert [(pair.first, pair.second) for pair in pairs] == [
        ("MI-Kernel", "extra trees"),
        ("MI-Kernel", "naive"),
        ("extra trees", "naive"),
    ]
    values = [get_metric_values(comparison.units[name], "accuracy") for name in ("MI-Kernel", "naive")]
    assert pairs[1].difference == compare_paired(*values, test_share=8 / 16)
    means = {name: scores["accuracy"].errors.mean for name, scores in comparison.scores.items()}
    assert pairs[0].difference.mean == pytest.approx(means["MI-Kernel"] - means["extra trees"])


def test_differences_use_the_folds_that_both_methods_have_completed(comparison, tmp_path):
    folder = tmp_path / "interrupted"
    shutil.copytree(comparison.folder, folder)
    (folder / "manifest.json").unlink()  # written at the end
    for path in sorted((folder / "units" / "naive").iterdir())[2:]:
        path.unlink()
    assert [pair.difference.n_folds for pair in Comparison(folder).differences("accuracy")] == [6, 2, 2]
    shutil.rmtree(folder / "units" / "naive")
    assert "naive" not in Comparison(folder).scores
