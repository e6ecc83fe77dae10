import gzip
import lzma
import re

import pytest

from bagwise.datasets import wrappers
from bagwise.datasets.home import find
from bagwise.datasets.origins import ORIGINS
from bagwise.datasets.parts import Part, read_parts
from bagwise.files import sha256
from real_data import HOME, needs_real_data

FILES = {
    **dict.fromkeys(["musk1", "musk2", "fox", "tiger", "elephant", "ucsb-breast"], 1),
    "mnist-bags": 4,
    "breast-cancer": 58,
    "colon-cancer": 500,
    "newsgroups-1": 3,
    "brown-creeper": 3,
}


@pytest.mark.parametrize("name", ORIGINS)
def test_every_list_names_each_file_once_with_a_sha256_for_each_form(name):
    parts = read_parts(name)
    assert len(parts) == FILES[name]
    for part in parts:
        assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in part.forms.values())
        assert all(path.startswith(part.key) for path in part.paths)
    digests = [digest for part in parts for digest in part.forms.values()]
    assert len(set(digests)) >= len(digests) - 60  # images without nuclei of a class share the empty file


@pytest.mark.parametrize("name", [name for name in ORIGINS if name != "colon-cancer"])
def test_the_real_files_fit_their_hashes(name):
    for part in read_parts(name):
        for path in part.paths:
            if (HOME / path).is_file():
                assert part.fits(HOME / path)


@needs_real_data("newsgroups-1")
def test_content_fits_in_any_wrapper_and_not_when_a_byte_differs(tmp_path):
    part = next(part for part in read_parts("newsgroups-1") if part.key.endswith("labels.csv"))
    content = wrappers.content(find(part, HOME))
    file = tmp_path / "labels.csv"
    for wrapped in (content, gzip.compress(content), lzma.compress(content, preset=1)):
        file.write_bytes(wrapped)
        assert part.fits(file)
        file.write_bytes(wrapped[:-1] + bytes([wrapped[-1] ^ 1]))
        assert not part.fits(file)


def test_a_refusal_shows_both_hashes_and_tells_a_file_known_by_another_name(tmp_path):
    wrong, right = (next(iter(read_parts(name)[0].forms.values())) for name in ("musk2", "musk1"))
    file = tmp_path / "musk1.mat"
    file.write_bytes(b"something else")
    refusal = read_parts("musk1")[0].refusal(file, "musk1.mat")
    assert sha256(file) in refusal
    assert right in refusal
    part = Part("x", {"x": wrong})
    assert "under another name" not in part.refusal(file, "x")


@needs_real_data("musk2")
def test_a_swapped_file_is_recognised():
    refusal = read_parts("musk1")[0].refusal(HOME / "mil_classic" / "musk2.mat", "musk1.mat")
    assert "it is mil_classic/musk2.mat under another name" in refusal
