import shutil

import numpy as np
import pytest

from bagwise.comparing import Comparison
from bagwise.errors import InputError
from bagwise.evaluation.cross_validation import metric_values
from bagwise.evaluation.errors import paired_difference
from resealing import reseal


def test_every_pair_is_compared_on_the_same_folds(comparison):
    pairs = comparison.differences("accuracy")
    assert [(pair.first, pair.second) for pair in pairs] == [
        ("MI-Kernel", "extra trees"),
        ("MI-Kernel", "naive"),
        ("extra trees", "naive"),
    ]
    values = [metric_values(comparison.units[name], "accuracy") for name in ("MI-Kernel", "naive")]
    expected = paired_difference(*values, test_share=8 / 16)
    assert pairs[1].difference == expected
    means = {name: scores["accuracy"].errors.mean for name, scores in comparison.scores.items()}
    assert pairs[0].difference.mean == pytest.approx(means["MI-Kernel"] - means["extra trees"])


def test_methods_are_compared_on_the_folds_that_both_have_done(comparison, tmp_path):
    import shutil

    shutil.copytree(comparison.folder, tmp_path / "part")
    (tmp_path / "part" / "manifest.json").unlink()  # as of one that was cut
    for path in sorted((tmp_path / "part" / "units" / "naive").iterdir())[2:]:
        path.unlink()
    part = Comparison(tmp_path / "part")
    assert [pair.difference.n_folds for pair in part.differences("accuracy")] == [6, 2, 2]
    shutil.rmtree(tmp_path / "part" / "units" / "naive")
    assert "naive" not in Comparison(tmp_path / "part").scores


def test_a_damaged_plan_is_refused(tmp_path):
    (tmp_path / "plan.json").write_text("[]")
    with pytest.raises(InputError, match="is damaged"):
        Comparison(tmp_path)


def test_targets_of_all_folds_are_all_bags(comparison):
    units = [unit for unit in comparison.units["naive"] if unit["repeat"] == 0]
    assert sorted(np.concatenate([unit["rows"] for unit in units])) == list(range(24))


def test_a_unit_that_is_none_is_refused(comparison, tmp_path):
    shutil.copytree(comparison.folder, tmp_path / "copy")
    next((tmp_path / "copy").rglob("units/naive/*.json")).write_text("{}")
    reseal(tmp_path / "copy")
    with pytest.raises(InputError, match="does not hold what a unit consists of"):
        _ = Comparison(tmp_path / "copy").units
