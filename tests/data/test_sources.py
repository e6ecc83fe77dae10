import numpy as np
import pytest

from bagwise.bags.folder import save_bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.data.sources import open_source, resolve_data_path
from bagwise.errors import InputError
from command_line import bagwise, read_error


def test_open_source_finds_test_bags_of_a_data_set_but_not_of_a_folder(tmp_path):
    source = open_source("digits", n_bags=6)
    assert source.training.names[0] == "train-0000"
    assert source.test.names[0] == "test-0000"
    save_bags(source.training, tmp_path / "bags")
    folder = open_source(str(tmp_path / "bags"))
    assert folder.test is None
    assert folder.training.n_instances == source.training.n_instances
    assert len(source.test) == 200, "n_bags is the number of training bags only"
    assert len(open_source("digits", n_test_bags=6).prediction_bags) == 6
    assert len(open_source(str(tmp_path / "bags")).prediction_bags) == 6


def test_open_source_rejects_unknown_data_and_options_by_name(tmp_path):
    with pytest.raises(InputError, match="did you mean 'digits'"):
        open_source("digit")
    with pytest.raises(InputError, match="has no option 'n_bag'; did you mean 'n_bags'"):
        open_source("needles", n_bag=4)
    save_bags(load_dataset("needles", n_bags=4), tmp_path / "bags")
    with pytest.raises(InputError, match="has no options; leave out --data-option n_bags=3"):
        open_source(str(tmp_path / "bags"), n_bags=3)
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"contains neither bags \(it has no manifest\.json\) nor images"):
        open_source(str(tmp_path / "empty"))


def test_open_source_reads_tables_with_the_options_of_their_reader(tmp_path):
    (tmp_path / "table.csv").write_text("id,y,note,1\na,yes,n,0.5\nb,no,n,1\na,yes,n,2\n")
    bags = open_source(str(tmp_path / "table.csv"), bag="id", label="y", drop=["note"]).training
    assert (bags.names.tolist(), bags.labels.tolist(), bags.instance_shape) == (["a", "b"], ["yes", "no"], (1,))
    (tmp_path / "musk.data").write_text("m,m_1,1,2,1.\nn,n_1,3,4,0.\n")
    assert open_source(str(tmp_path / "musk.data")).prediction_bags.labels.tolist() == [1, 0]
    (tmp_path / "bags.svm").write_text("0:a:1 1:2\n1:b:0 2:1\n")
    assert open_source(str(tmp_path / "bags.svm"), n_features=5).prediction_bags.instance_shape == (5,)


def test_open_source_finds_a_second_table_beside_the_first(tmp_path):
    (tmp_path / "instances.csv").write_text("bag,f\na,1\nb,2\n")
    (tmp_path / "labels.csv").write_text("bag,label\nb,0\na,1\n")
    assert open_source(str(tmp_path / "instances.csv"), bags="labels.csv").training.labels.tolist() == [1, 0]


def test_open_source_takes_test_bags_from_a_split_file(tmp_path):
    save_bags(load_dataset("needles", n_bags=4), tmp_path / "bags")
    names = open_source(str(tmp_path / "bags")).prediction_bags.names.tolist()
    (tmp_path / "splits_0.csv").write_text(f",train,val,test\n0,{names[3]},{names[0]},{names[1]}\n1,{names[2]},,\n")
    source = open_source(str(tmp_path / "bags"), splits="splits_0.csv")
    assert source.training.names.tolist() == [names[3], names[2], names[0]]
    assert source.test.names.tolist() == [names[1]]


def test_open_source_rejects_wrong_files_and_options_of_tables_by_name(tmp_path):
    (tmp_path / "table.csv").write_text("bag,label,f\na,1,2\n")
    with pytest.raises(InputError, match="has no option 'lable'; did you mean 'label'"):
        open_source(str(tmp_path / "table.csv"), lable="y")
    (tmp_path / "table.xlsx").touch()
    with pytest.raises(
        InputError, match=r"table\.xlsx is not a table that can be read; pass a file with one of the suffixes \.csv"
    ):
        open_source(str(tmp_path / "table.xlsx"))
    (tmp_path / "bags.svm").write_text("0:a:1 1:2\n")
    with pytest.raises(
        InputError, match=r"n_features must be a whole number, got 'many'; pass e\.g\. --data-option n_features=100"
    ):
        open_source(str(tmp_path / "bags.svm"), n_features="many")


def test_train_reads_a_csv_file_with_data_options(tmp_path):
    lines = [f"b{number % 10},{'yes' if number % 2 else 'no'},{number % 7},{number}" for number in range(40)]
    (tmp_path / "table.csv").write_text("\n".join(["id,out,f1,f2", *lines]) + "\n")
    options = ("--data-option", "bag=id", "--data-option", "label=out", "--epochs", "1", "--quiet")
    result = bagwise("train", tmp_path / "table.csv", tmp_path / "run", *options)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
    message = read_error(bagwise("train", tmp_path / "table.csv", tmp_path / "other", "--epochs", "1"))
    assert "has no column with the bag names; name it with --data-option bag=NAME" in message


def test_open_source_reads_images_if_the_tile_size_is_given(tmp_path):
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
    with pytest.raises(InputError, match=r"size must be a number, got 'large'; pass e\.g\. --data-option size=32"):
        open_source(str(tmp_path / "images"), size="large")


def test_open_source_prefers_a_data_set_to_files_of_its_name_but_not_to_a_folder_of_bags(tmp_path, monkeypatch):
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
def test_open_source_rejects_empty_data(data):
    with pytest.raises(InputError, match="DATA is empty"):
        open_source(data)


def test_open_source_rejects_split_for_data_sets_with_predefined_splits():
    with pytest.raises(InputError, match="leave out --data-option split=test"):
        open_source("digits", split="test")


def test_resolve_data_path_rejects_paths_that_are_not_utf_8(tmp_path):
    path = tmp_path / "b\udce9.csv"
    try:
        path.write_text("bag,label,f\na,1,2\n")
    except OSError:
        pytest.skip("this file system accepts valid UTF-8 only")
    with pytest.raises(InputError, match="not valid UTF-8"):
        resolve_data_path(str(path), {})


@pytest.mark.parametrize(
    ("label", "names"),
    [
        ("a,b", ("a", "b")),
        ("b , a", ("b", "a")),
        (["a", "c,d"], ("a", "c,d")),
        (["c,d"], None),
        ("a", None),
        (["a"], None),
    ],
    ids=str,
)
def test_open_source_separates_labels_by_commas_and_takes_names_with_commas_in_a_list(tmp_path, label, names):
    path = tmp_path / "table.csv"
    path.write_text('bag,a,b,"c,d",x\nm,1,0,0,0.5\nn,0,1,1,1.5\n')
    bags = open_source(str(path), label=label).training
    assert bags.label_names == names
    assert bags.labels.ndim == (1 if names is None else 2)


def test_open_source_reads_time_and_event(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("bag,months,died,x\nm,1,0,0.5\nn,2.5,1,1.5\n")
    bags = open_source(str(path), time="months", event="died").training
    assert bags.labels.tolist() == [(False, 1.0), (True, 2.5)]
    with pytest.raises(InputError, match="is either one or several columns or a time and an event; leave out"):
        open_source(str(path), label="died", time="months", event="died")
