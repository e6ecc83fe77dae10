import pickle
import zipfile

import numpy as np
import pytest
import torch

from bagwise.data.formats.tensors import read_tensor, read_tensors
from bagwise.errors import InputError

ROWS = torch.arange(12, dtype=torch.float32).reshape(3, 4)


class Exploit:
    """Creates a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


@pytest.mark.parametrize(
    ("dtype", "zipped"),
    [
        (torch.float16, True),
        (torch.float32, True),
        (torch.float32, False),
        (torch.float64, False),
        (torch.uint8, True),
        (torch.bfloat16, True),
        (torch.bfloat16, False),
    ],
)
def test_read_tensor_returns_a_bare_tensor_as_written(tmp_path, dtype, zipped):
    torch.save(ROWS.to(dtype), tmp_path / "a.pt", _use_new_zipfile_serialization=zipped)
    np.testing.assert_array_equal(read_tensor(tmp_path / "a.pt"), ROWS.numpy())


def test_read_tensor_selects_the_named_or_only_tensor_of_a_dictionary(tmp_path):
    torch.save({"features": ROWS, "slide": "s1"}, tmp_path / "a.pt")
    np.testing.assert_array_equal(read_tensor(tmp_path / "a.pt"), ROWS)
    torch.save({"features": ROWS, "coords": ROWS[:, :2]}, tmp_path / "a.pt")
    np.testing.assert_array_equal(read_tensor(tmp_path / "a.pt", "features"), ROWS)
    with pytest.raises(InputError, match=r"several tensors or none \(coords, features\)"):
        read_tensor(tmp_path / "a.pt")
    with pytest.raises(InputError, match="no plain tensor"):
        read_tensor(tmp_path / "a.pt", "other")


@pytest.mark.parametrize("wrap", [lambda exploit: exploit, lambda exploit: {"features": ROWS, "more": exploit}])
@pytest.mark.parametrize("zipped", [True, False])
def test_read_tensor_rejects_other_objects_without_executing_them(tmp_path, wrap, zipped):
    torch.save(wrap(Exploit(tmp_path / "created")), tmp_path / "a.pt", _use_new_zipfile_serialization=zipped)
    with pytest.raises(InputError, match=r"a\.pt contains more than tensors \(.*\), .*nothing was executed"):
        read_tensor(tmp_path / "a.pt")
    (tmp_path / "b.pt").write_bytes(pickle.dumps(Exploit(tmp_path / "created")))
    with pytest.raises(InputError, match=r"b\.pt"):
        read_tensor(tmp_path / "b.pt")
    assert not (tmp_path / "created").exists()


def test_read_tensor_rejects_strides_that_repeat_rows(tmp_path):
    torch.save(torch.zeros(1).expand(10**6, 10**6), tmp_path / "a.pt")
    with pytest.raises(InputError, match=r"a\.pt declares 4,000,000,000,000 bytes"):
        read_tensor(tmp_path / "a.pt")


@pytest.mark.parametrize("content", [[1, 2], "words", None, torch.zeros(2, dtype=torch.complex64), ROWS.to_sparse()])
def test_read_tensor_rejects_anything_but_plain_tensors(tmp_path, content):
    torch.save(content, tmp_path / "a.pt")
    with pytest.raises(InputError, match=r"a\.pt has no plain tensor"):
        read_tensor(tmp_path / "a.pt")


def test_read_tensor_rejects_a_compressed_archive(tmp_path):
    torch.save(ROWS, tmp_path / "a.pt")
    with (
        zipfile.ZipFile(tmp_path / "a.pt") as stored,
        zipfile.ZipFile(tmp_path / "b.pt", "w", zipfile.ZIP_DEFLATED) as compressed,
    ):
        for name in stored.namelist():
            compressed.writestr(name, stored.read(name))
    with pytest.raises(InputError, match=r"b\.pt is damaged, truncated or not a \.pt file"):
        read_tensor(tmp_path / "b.pt")


def test_read_tensor_rejects_damaged_and_pt2_files_by_name(tmp_path):
    torch.save(ROWS, tmp_path / "a.pt")
    (tmp_path / "b.pt").write_bytes((tmp_path / "a.pt").read_bytes()[:300])
    with pytest.raises(InputError, match=r"b\.pt is damaged, truncated or not a \.pt file"):
        read_tensor(tmp_path / "b.pt")
    (tmp_path / "a.pt").rename(tmp_path / "a.pt2")
    with pytest.raises(InputError, match=r"a\.pt2 is not a \.pt file"):
        read_tensor(tmp_path / "a.pt2")


@pytest.mark.parametrize("wrap", [lambda state: state, lambda state: {"state_dict": state, "epoch": 3}])
def test_read_tensors_reads_a_state_dictionary_alone_or_in_a_checkpoint(tmp_path, wrap):
    state = {"a.weight": torch.eye(2), "a.bias": torch.zeros(2)}
    torch.save(wrap(state), tmp_path / "state.pt")
    read = read_tensors(tmp_path / "state.pt")
    assert read.keys() == state.keys()
    torch.testing.assert_close(read["a.weight"], state["a.weight"])


@pytest.mark.parametrize("content", [torch.eye(2), {}, {"a": 3}, {"state_dict": {"a": "word"}}])
def test_read_tensors_rejects_anything_but_a_state_dictionary(tmp_path, content):
    torch.save(content, tmp_path / "state.pt")
    with pytest.raises(InputError, match=r"state\.pt has no state dictionary"):
        read_tensors(tmp_path / "state.pt")


def test_read_tensors_rejects_a_tensor_that_declares_more_than_the_file_contains(tmp_path):
    torch.save({"a": torch.zeros(1).expand(1 << 20)}, tmp_path / "state.pt")
    with pytest.raises(InputError, match=r"state\.pt declares 4,194,304 bytes"):
        read_tensors(tmp_path / "state.pt")
