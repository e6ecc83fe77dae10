import gzip
import hashlib
import lzma
import re

import pytest

from bagwise.data.datasets import dataset_files
from bagwise.data.datasets.dataset_files import DatasetFile, hash_content, list_dataset_files, read_content
from bagwise.data.datasets.home import find_file
from bagwise.data.datasets.origins import ORIGINS
from bagwise.errors import InputError
from bagwise.io.manifest import hash_file
from real_data import HOME, needs_real_data

CONTENT = bytes(range(256)) * 500
COMPRESSED = {
    "plain": CONTENT,
    "gz": gzip.compress(CONTENT, 1),
    "gz, another level": gzip.compress(CONTENT, 9),
    "xz": lzma.compress(CONTENT),
}
N_FILES = {
    **dict.fromkeys(["musk1", "musk2", "fox", "tiger", "elephant", "ucsb-breast"], 1),
    "mnist-bags": 4,
    "breast-cancer": 58,
    "colon-cancer": 500,
    "newsgroups-1": 3,
    "brown-creeper": 3,
    "newsgroups-2": 3,
    "mutagenesis-1": 3,
    "protein": 3,
    "corel-beach": 3,
}


@pytest.mark.parametrize("name", ORIGINS)
def test_list_dataset_files_has_each_file_once_with_a_sha256_for_each_form(name):
    parts = list_dataset_files(name)
    assert len(parts) == N_FILES[name]
    for part in parts:
        assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in part.forms.values())
        assert all(path.startswith(part.key) for path in part.paths)
    digests = [digest for part in parts for digest in part.forms.values()]
    assert len(set(digests)) >= len(digests) - 60  # images without nuclei of a class share the empty file


@pytest.mark.parametrize("name", [name for name in ORIGINS if name != "colon-cancer"])
def test_matches_accepts_the_real_files(name):
    for part in list_dataset_files(name):
        for path in part.paths:
            if (HOME / path).is_file():
                assert part.matches(HOME / path)


@needs_real_data("newsgroups-1")
def test_matches_accepts_any_compression_and_no_other_byte(tmp_path):
    part = next(part for part in list_dataset_files("newsgroups-1") if part.key.endswith("labels.csv"))
    content = read_content(find_file(part, HOME))
    file = tmp_path / "labels.csv"
    for compressed in (content, gzip.compress(content), lzma.compress(content, preset=1)):
        file.write_bytes(compressed)
        assert part.matches(file)
        file.write_bytes(compressed[:-1] + bytes([compressed[-1] ^ 1]))
        assert not part.matches(file)


def test_explain_mismatch_contains_both_hashes(tmp_path):
    part = list_dataset_files("musk1")[0]
    file = tmp_path / "musk1.mat"
    file.write_bytes(b"something else")
    explanation = part.explain_mismatch(file, "musk1.mat")
    assert hash_file(file) in explanation
    assert next(iter(part.forms.values())) in explanation


@needs_real_data("musk2")
def test_explain_mismatch_recognises_a_file_under_another_name(tmp_path):
    explanation = list_dataset_files("musk1")[0].explain_mismatch(HOME / "mil_classic" / "musk2.mat", "musk1.mat")
    assert "it is mil_classic/musk2.mat under another name" in explanation
    (tmp_path / "unknown").write_bytes(b"something else")
    explanation = DatasetFile("x", {"x": "0" * 64}).explain_mismatch(tmp_path / "unknown", "x")
    assert "under another name" not in explanation


@pytest.mark.parametrize("compression", COMPRESSED)
def test_read_content_and_hash_content_ignore_compression_and_file_name(tmp_path, compression):
    file = tmp_path / "name.gz"
    file.write_bytes(COMPRESSED[compression])
    assert read_content(file) == CONTENT
    assert hash_content(file) == hashlib.sha256(CONTENT).hexdigest()


@pytest.mark.parametrize("compression", ["gz", "xz"])
def test_read_content_rejects_a_truncated_file_by_name(tmp_path, compression):
    file = tmp_path / "truncated"
    file.write_bytes(COMPRESSED[compression][:-20])
    with pytest.raises(InputError, match="truncated is damaged"):
        read_content(file)


def test_hash_content_rejects_a_decompression_bomb_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr(dataset_files, "MAX_CONTENT_BYTES", 1000)
    file = tmp_path / "bomb.gz"
    file.write_bytes(COMPRESSED["gz"])
    with pytest.raises(InputError, match=r"bomb\.gz unpacks to more than"):
        hash_content(file)
