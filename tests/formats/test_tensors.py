import pickle
import zipfile

import numpy as np
import pytest
import torch

from bagwise.errors import InputError
from bagwise.formats.tensors import read_tensor, read_tensors

ROWS = torch.arange(12, dtype=torch.float32).reshape(3, 4)


class Harm:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (open, (str(self.path), "w"))


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64, torch.uint8, torch.bfloat16])
@pytest.mark.parametrize("zipped", [True, False])
def test_a_bare_tensor_comes_as_it_was_written(tmp_path, dtype, zipped):
    torch.save(ROWS.to(dtype), tmp_path / "a.pt", _use_new_zipfile_serialization=zipped)
    np.testing.assert_array_equal(read_tensor(tmp_path / "a.pt"), ROWS.numpy())


def test_a_dictionary_gives_its_named_or_only_tensor(tmp_path):
    torch.save({"features": ROWS, "slide": "s1"}, tmp_path / "a.pt")
    np.testing.assert_array_equal(read_tensor(tmp_path / "a.pt"), ROWS)
    torch.save({"features": ROWS, "coords": ROWS[:, :2]}, tmp_path / "a.pt")
    np.testing.assert_array_equal(read_tensor(tmp_path / "a.pt", "features"), ROWS)
    with pytest.raises(InputError, match=r"several tensors or none \(coords, features\)"):
        read_tensor(tmp_path / "a.pt")
    with pytest.raises(InputError, match="no plain tensor"):
        read_tensor(tmp_path / "a.pt", "other")


@pytest.mark.parametrize("wrap", [lambda harm: harm, lambda harm: {"features": ROWS, "more": harm}])
@pytest.mark.parametrize("zipped", [True, False])
def test_a_pickle_with_harm_in_it_is_refused_and_never_run(tmp_path, wrap, zipped):
    torch.save(wrap(Harm(tmp_path / "harm")), tmp_path / "a.pt", _use_new_zipfile_serialization=zipped)
    with pytest.raises(InputError, match=r"a\.pt holds more than tensors \(.*\), .*nothing was run"):
        read_tensor(tmp_path / "a.pt")
    (tmp_path / "b.pt").write_bytes(pickle.dumps(Harm(tmp_path / "harm")))
    with pytest.raises(InputError, match=r"b\.pt"):
        read_tensor(tmp_path / "b.pt")
    assert not (tmp_path / "harm").exists()


def test_strides_that_repeat_rows_for_ever_are_refused(tmp_path):
    torch.save(torch.zeros(1).expand(10**6, 10**6), tmp_path / "a.pt")
    with pytest.raises(InputError, match="claims 4,000,000,000,000 bytes"):
        read_tensor(tmp_path / "a.pt")


@pytest.mark.parametrize("content", [[1, 2], "words", None, torch.zeros(2, dtype=torch.complex64), ROWS.to_sparse()])
def test_what_is_no_plain_tensor_is_refused(tmp_path, content):
    torch.save(content, tmp_path / "a.pt")
    with pytest.raises(InputError, match="no plain tensor"):
        read_tensor(tmp_path / "a.pt")


def test_an_archive_whose_parts_are_packed_is_refused(tmp_path):
    torch.save(ROWS, tmp_path / "a.pt")
    with (
        zipfile.ZipFile(tmp_path / "a.pt") as whole,
        zipfile.ZipFile(tmp_path / "b.pt", "w", zipfile.ZIP_DEFLATED) as b,
    ):
        for name in whole.namelist():
            b.writestr(name, whole.read(name))
    with pytest.raises(InputError, match=r"b\.pt is damaged, cut short or no \.pt file"):
        read_tensor(tmp_path / "b.pt")


def test_damage_and_pt2_are_refused_by_name(tmp_path):
    torch.save(ROWS, tmp_path / "a.pt")
    (tmp_path / "b.pt").write_bytes((tmp_path / "a.pt").read_bytes()[:300])
    with pytest.raises(InputError, match=r"b\.pt is damaged, cut short or no \.pt file"):
        read_tensor(tmp_path / "b.pt")
    (tmp_path / "a.pt").rename(tmp_path / "a.pt2")
    with pytest.raises(InputError, match=r"not a \.pt file"):
        read_tensor(tmp_path / "a.pt2")


@pytest.mark.parametrize("wrap", [lambda state: state, lambda state: {"state_dict": state, "epoch": 3}])
def test_a_state_dictionary_is_read_alone_or_from_a_checkpoint(tmp_path, wrap):
    state = {"a.weight": torch.eye(2), "a.bias": torch.zeros(2)}
    torch.save(wrap(state), tmp_path / "state.pt")
    read = read_tensors(tmp_path / "state.pt")
    assert read.keys() == state.keys()
    torch.testing.assert_close(read["a.weight"], state["a.weight"])


@pytest.mark.parametrize("content", [torch.eye(2), {}, {"a": 3}, {"state_dict": {"a": "word"}}])
def test_what_is_no_state_dictionary_is_refused(tmp_path, content):
    torch.save(content, tmp_path / "state.pt")
    with pytest.raises(InputError, match="holds no state dictionary"):
        read_tensors(tmp_path / "state.pt")


def test_a_tensor_that_claims_more_than_the_file_holds_is_refused(tmp_path):
    torch.save({"a": torch.zeros(1).expand(1 << 20)}, tmp_path / "state.pt")
    with pytest.raises(InputError, match="claims"):
        read_tensors(tmp_path / "state.pt")
