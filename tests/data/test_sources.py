import numpy as np
import pytest

from bagwise.bags.folder import save_bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.data.sources import open_source, resolve_data_path
from bagwise.errors import InputError
from command_line import bagwise, refused


def test_a_data_set_brings_its_own_test_bags_a_folder_does_not(tmp_path):
    source = open_source("digits", n_bags=6)
    assert source.training.names[0] == "train-0000"
    assert source.test.names[0] == "test-0000"
    save_bags(source.training, tmp_path / "bags")
    folder = open_source(str(tmp_path / "bags"))
    assert folder.test is None
    assert folder.training.n_instances == source.training.n_instances
    assert len(source.test) == 200, "the number of training bags says nothing of the test"
    assert len(open_source("digits", n_test_bags=6).prediction_bags) == 6
    assert len(open_source(str(tmp_path / "bags")).prediction_bags) == 6


def test_unknown_data_gets_the_nearest_name(tmp_path):
    with pytest.raises(InputError, match="did you mean 'digits'"):
        open_source("digit")
    with pytest.raises(InputError, match="has no option 'n_bag'; did you mean 'n_bags'"):
        open_source("needles", n_bag=4)
    save_bags(load_dataset("needles", n_bags=4), tmp_path / "bags")
    with pytest.raises(InputError, match="belong to data sets"):
        open_source(str(tmp_path / "bags"), n_bags=3)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"holds neither bags \(it has no manifest\.json\) nor images"):
        open_source(str(tmp_path / "empty"))


def test_tables_are_data_and_their_options_reach_the_reader(tmp_path):
    (tmp_path / "table.csv").write_text("id,y,note,1\na,yes,n,0.5\nb,no,n,1\na,yes,n,2\n")
    bags = open_source(str(tmp_path / "table.csv"), bag="id", label="y", drop=["note"]).training
    assert (bags.names.tolist(), bags.labels.tolist(), bags.instance_shape) == (["a", "b"], ["yes", "no"], (1,))
    (tmp_path / "musk.data").write_text("m,m_1,1,2,1.\nn,n_1,3,4,0.\n")
    assert open_source(str(tmp_path / "musk.data")).prediction_bags.labels.tolist() == [1, 0]
    (tmp_path / "bags.svm").write_text("0:a:1 1:2\n1:b:0 2:1\n")
    assert open_source(str(tmp_path / "bags.svm"), n_features=5).prediction_bags.instance_shape == (5,)


def test_a_second_table_is_found_beside_the_first(tmp_path):
    (tmp_path / "instances.csv").write_text("bag,f\na,1\nb,2\n")
    (tmp_path / "labels.csv").write_text("bag,label\nb,0\na,1\n")
    assert open_source(str(tmp_path / "instances.csv"), bags="labels.csv").training.labels.tolist() == [1, 0]


def test_a_split_file_sets_the_test_bags_apart(tmp_path):
    save_bags(load_dataset("needles", n_bags=4), tmp_path / "bags")
    names = open_source(str(tmp_path / "bags")).prediction_bags.names.tolist()
    (tmp_path / "splits_0.csv").write_text(f",train,val,test\n0,{names[3]},{names[0]},{names[1]}\n1,{names[2]},,\n")
    source = open_source(str(tmp_path / "bags"), splits="splits_0.csv")
    assert source.training.names.tolist() == [names[3], names[2], names[0]]
    assert source.test.names.tolist() == [names[1]]


def test_wrong_options_and_files_of_a_table_are_told(tmp_path):
    (tmp_path / "table.csv").write_text("bag,label,f\na,1,2\n")
    with pytest.raises(InputError, match="has no option 'lable'; did you mean 'label'"):
        open_source(str(tmp_path / "table.csv"), lable="y")
    (tmp_path / "table.xlsx").touch()
    with pytest.raises(InputError, match=r"not a table that can be read; give one of \.csv"):
        open_source(str(tmp_path / "table.xlsx"))
    (tmp_path / "bags.svm").write_text("0:a:1 1:2\n")
    with pytest.raises(InputError, match="give a whole number"):
        open_source(str(tmp_path / "bags.svm"), n_features="many")


def test_a_csv_is_trained_on_from_the_command_line(tmp_path):
    lines = [f"b{number % 10},{'yes' if number % 2 else 'no'},{number % 7},{number}" for number in range(40)]
    (tmp_path / "table.csv").write_text("\n".join(["id,out,f1,f2", *lines]) + "\n")
    options = ("--data-option", "bag=id", "--data-option", "label=out", "--epochs", "1", "--quiet")
    result = bagwise("train", tmp_path / "table.csv", tmp_path / "run", *options)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
    message = refused(bagwise("train", tmp_path / "table.csv", tmp_path / "other", "--epochs", "1"))
    assert "no column that names the bags; say which one with bag=NAME" in message


def test_a_folder_of_images_is_data_once_it_is_said_how_to_cut_it(tmp_path):
    from PIL import Image

    for number, label in enumerate(["benign", "malignant"] * 2):
        (tmp_path / "images" / label).mkdir(parents=True, exist_ok=True)
        picture = np.random.default_rng(number).integers(0, 200, size=(40, 50, 3), dtype=np.uint8)
        Image.fromarray(picture).save(tmp_path / "images" / label / f"{number}.png")
    bags = open_source(str(tmp_path / "images"), size=16).training
    assert bags.instances.shape == (4 * 6, 16, 16, 3)
    assert sorted(bags.labels.tolist()) == ["benign"] * 2 + ["malignant"] * 2
    (tmp_path / "list.csv").write_text("file,label\nimages/benign/0.png,no\nimages/malignant/1.png,yes\n")
    assert open_source(str(tmp_path / "list.csv"), size=16).training.labels.tolist() == ["no", "yes"]
    with pytest.raises(InputError, match="--data-option size=32"):
        open_source(str(tmp_path / "images"))
    with pytest.raises(InputError, match="did you mean 'stride'"):
        open_source(str(tmp_path / "images"), size=16, strid=4)
    with pytest.raises(InputError, match="give a number"):
        open_source(str(tmp_path / "images"), size="large")


def test_a_file_or_folder_named_like_a_data_set_does_not_hide_it_but_a_folder_of_bags_does(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "digits").mkdir()
    (tmp_path / "needles").write_text("a note")
    assert resolve_data_path("digits", {}) == ("digits", {})
    assert open_source("digits", n_bags=3).training.instance_shape == (8, 8)
    assert len(open_source("needles", n_bags=3).training) == 3
    save_bags(load_dataset("needles", n_bags=5), tmp_path / "musk1")
    assert len(open_source("musk1").training) == 5
    assert resolve_data_path("musk1", {})[0] == str(tmp_path.resolve() / "musk1")


@pytest.mark.parametrize("data", ["", "  "])
def test_empty_data_is_refused(data):
    with pytest.raises(InputError, match="DATA is empty"):
        open_source(data)


def test_a_split_cannot_be_asked_of_a_data_set_that_brings_both():
    with pytest.raises(InputError, match="leave the option split out"):
        open_source("digits", split="test")


def test_a_path_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / "b\udce9.csv"
    try:
        path.write_text("bag,label,f\na,1,2\n")
    except OSError:
        pytest.skip("this file system takes valid UTF-8 only")
    with pytest.raises(InputError, match="not valid UTF-8"):
        resolve_data_path(str(path), {})
