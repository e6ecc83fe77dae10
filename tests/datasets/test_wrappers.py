import gzip
import hashlib
import lzma

import pytest

from bagwise.datasets import wrappers
from bagwise.errors import InputError

CONTENT = bytes(range(256)) * 500
WRAPPED = {"plain": CONTENT, "gz": gzip.compress(CONTENT, 1), "gz again": gzip.compress(CONTENT, 9)}
WRAPPED["xz"] = lzma.compress(CONTENT)


@pytest.mark.parametrize("wrapper", WRAPPED)
def test_the_content_is_the_same_in_every_wrapper_whatever_the_name(tmp_path, wrapper):
    file = tmp_path / "name.gz"
    file.write_bytes(WRAPPED[wrapper])
    assert wrappers.content(file) == CONTENT
    assert wrappers.content_sha256(file) == hashlib.sha256(CONTENT).hexdigest()


@pytest.mark.parametrize("wrapper", ["gz", "xz"])
def test_a_cut_wrapper_is_refused_by_name(tmp_path, wrapper):
    file = tmp_path / "cut"
    file.write_bytes(WRAPPED[wrapper][:-20])
    with pytest.raises(InputError, match="cut is damaged"):
        wrappers.content(file)


def test_a_bomb_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(wrappers, "LIMIT", 1000)
    file = tmp_path / "bomb.gz"
    file.write_bytes(WRAPPED["gz"])
    with pytest.raises(InputError, match="unpacks to more than"):
        wrappers.content_sha256(file)
