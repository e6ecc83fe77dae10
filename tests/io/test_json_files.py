"""JSON files: read back as written, and named in the error if they are missing or damaged."""

import pytest

from bagwise.errors import InputError
from bagwise.io.json_files import read_json, write_json


def test_read_json_returns_what_write_json_wrote(tmp_path):
    content = {"text": "σ – ×", "numbers": [1, 2.5, -1e-300], "null": None, "nested": {"yes": True}}
    write_json(tmp_path / "a.json", content)
    assert read_json(tmp_path / "a.json") == content


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_write_json_rejects_nan_and_infinity_and_keeps_the_old_file(tmp_path, value):
    write_json(tmp_path / "a.json", {"loss": 1.0})
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "a.json", {"loss": value})
    assert read_json(tmp_path / "a.json") == {"loss": 1.0}
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_read_json_names_a_missing_file_and_its_folder(tmp_path):
    with pytest.raises(InputError, match=r"a\.json is missing; check that .* is the right folder"):
        read_json(tmp_path / "a.json")


@pytest.mark.parametrize("content", [b"{", b"", b'{"a": }', b"\xff\xfe"])
def test_read_json_names_a_damaged_file(tmp_path, content):
    (tmp_path / "a.json").write_bytes(content)
    with pytest.raises(InputError, match=r"a\.json is damaged .*; restore it from a copy or create it again"):
        read_json(tmp_path / "a.json")


def test_read_json_names_a_folder(tmp_path):
    with pytest.raises(InputError, match=f"^{tmp_path} is not a file; check the path$"):
        read_json(tmp_path)
