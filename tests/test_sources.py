import pytest

from bagwise.datasets import load_dataset
from bagwise.errors import InputError
from bagwise.sources import judged_bags, open_source
from bagwise.storage import save_bags


def test_a_data_set_brings_its_own_test_bags_a_folder_does_not(tmp_path):
    source = open_source("digits", n_bags=6)
    assert source.training.names[0] == "train-0000"
    assert source.test.names[0] == "test-0000"
    save_bags(source.training, tmp_path / "bags")
    folder = open_source(str(tmp_path / "bags"))
    assert folder.test is None
    assert folder.training.n_instances == source.training.n_instances
    assert judged_bags("digits", n_bags=6).names[0] == "test-0000"
    assert len(judged_bags(str(tmp_path / "bags"))) == 6


def test_unknown_data_gets_the_nearest_name(tmp_path):
    with pytest.raises(InputError, match="did you mean 'digits'"):
        open_source("digit")
    with pytest.raises(InputError, match="has no option 'n_bag'; did you mean 'n_bags'"):
        open_source("needles", n_bag=4)
    save_bags(load_dataset("needles", n_bags=4), tmp_path / "bags")
    with pytest.raises(InputError, match="belong to data sets"):
        open_source(str(tmp_path / "bags"), n_bags=3)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"manifest\.json is missing"):
        open_source(str(tmp_path / "empty"))
