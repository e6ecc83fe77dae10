import pytest

from bagwise.data.formats.svm_light import read_svm_light
from bagwise.errors import InputError


def test_read_svm_light_fills_in_zeros_and_ignores_comments(tmp_path):
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
        (b"1:0.5\n", "line 1 must begin with instance:bag:label, got '1:0.5'"),
        (b"0:a:1 x:1\n", "line 1: 'x:1' is not feature:value"),
        (b"0:a:1 0:1\n", "line 1: '0:1' is not feature:value; features are numbered from 1"),
        (b"0:a:1 1:nan\n", "line 1, feature 1 is empty or NaN"),
        (b"0:a:1 1:1 1:2\n", "line 1 has feature 1 more than once"),
        (b"0:a:1 1:1\n1:a:0 1:1\n", "line 2: bag 'a' has the label '0'"),
        (b"0:a:1 999999999:1\n", "at most 65536"),
        (b"\xff", "is not text in UTF-8"),
    ],
)
def test_read_svm_light_reports_the_file_and_the_line(tmp_path, content, message):
    (tmp_path / "a.svm").write_bytes(content)
    with pytest.raises(InputError, match=rf"a\.svm.*{message}"):
        read_svm_light(tmp_path / "a.svm")


def test_read_svm_light_rejects_too_small_a_number_of_features(tmp_path):
    (tmp_path / "a.svm").write_text("0:a:1 5:1\n")
    with pytest.raises(InputError, match="has feature 5, but n_features is 3; pass --data-option n_features=5"):
        read_svm_light(tmp_path / "a.svm", n_features=3)
