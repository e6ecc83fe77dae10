import shutil

import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.export import export_run
from bagwise.runs import load_model


def test_a_model_is_found_in_a_run_in_an_export_and_alone(digits_run, tmp_path):
    export_run(digits_run, tmp_path / "exported")
    shutil.copytree(digits_run.folder / "model", tmp_path / "alone")
    bags = digits_run.test_bags()
    expected = load_model(digits_run.folder).predict_proba(bags)
    for folder in (tmp_path / "exported", tmp_path / "alone"):
        np.testing.assert_array_equal(load_model(folder).predict_proba(bags), expected)


def test_a_damaged_run_is_refused_though_its_model_is_whole(digits_run, tmp_path):
    shutil.copytree(digits_run.folder, tmp_path / "run")
    (tmp_path / "run" / "predictions.csv").write_text("other")
    with pytest.raises(InputError, match=r"predictions\.csv"):
        load_model(tmp_path / "run")


def test_what_is_no_model_is_refused(tmp_path):
    with pytest.raises(InputError, match="is not a folder"):
        load_model(tmp_path / "nowhere")
