import pytest

from bagwise.errors import InputError
from bagwise.formats.svm_light import read_svm_light


def test_rows_become_dense_and_comments_are_passed(tmp_path):
    (tmp_path / "a.svm").write_text("# bags\n0:x:+1 1:0.5 4:2\n1:y:-1 2:1 # why\n2:x:1\n")
    bags = read_svm_light(tmp_path / "a.svm")
    assert bags.names.tolist() == ["x", "y"]
    assert bags.labels.tolist() == [1, -1]
    assert bags.instances.tolist() == [[0.5, 0, 0, 2], [0, 0, 0, 0], [0, 1, 0, 0]]
    assert read_svm_light(tmp_path / "a.svm", n_features=6).instance_shape == (6,)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "has no rows"),
        (b"1:0.5\n", "must begin with instance:bag:label"),
        (b"0:a:1 x:1\n", "'x:1' is not feature:value"),
        (b"0:a:1 0:1\n", "from 1"),
        (b"0:a:1 1:nan\n", "feature 1 is empty or NaN"),
        (b"0:a:1 1:1 1:2\n", "more than once"),
        (b"0:a:1 1:1\n1:a:0 1:1\n", "line 2: bag 'a' has the label '0'"),
        (b"0:a:1 999999999:1\n", "at most 65536"),
        (b"\xff", "not text in UTF-8"),
    ],
)
def test_bad_lines_are_told(tmp_path, content, message):
    (tmp_path / "a.svm").write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_svm_light(tmp_path / "a.svm")


def test_too_small_a_number_of_features_is_told(tmp_path):
    (tmp_path / "a.svm").write_text("0:a:1 5:1\n")
    with pytest.raises(InputError, match="has feature 5, and n_features=3"):
        read_svm_light(tmp_path / "a.svm", n_features=3)
