import gzip
import shutil

import numpy as np
import pytest
from PIL import Image

from bagwise.data.datasets import origins
from bagwise.data.datasets.colon import read_image_of_size
from bagwise.data.datasets.dataset_files import read_content
from bagwise.data.datasets.fetch import fetch_dataset
from bagwise.data.datasets.origins import ORIGINS
from bagwise.data.datasets.registry import DATASETS, load_dataset
from bagwise.errors import InputError
from bagwise.io.manifest import hash_file
from real_data import HOME, needs_real_data

SMALL = ["musk1", "fox", "newsgroups-1", "ucsb-breast"]
COLON = "colon_cancer/CRCHistoPhenotypes_2016_04_28/Classification"


def list_files(folder):
    return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())


@needs_real_data(*SMALL)
@pytest.mark.parametrize("name", SMALL)
def test_fetch_dataset_copies_from_a_folder_and_keeps_correct_files(name, empty_home):
    result = fetch_dataset(name, HOME)
    assert sorted(result.brought) == list_files(empty_home)
    assert not result.kept
    times = {path: (empty_home / path).stat().st_mtime_ns for path in result.brought}
    repeated = fetch_dataset(name)  # needs no source
    assert not repeated.brought
    assert set(repeated.kept) == set(result.brought)
    assert times == {path: (empty_home / path).stat().st_mtime_ns for path in repeated.kept}
    assert load_dataset(name).n_bags > 0


@pytest.mark.full
@needs_real_data("colon-cancer")
def test_fetch_dataset_accepts_the_public_bitmaps_of_colon_cancer(empty_home, tmp_path):
    folder = tmp_path / "CRCHistoPhenotypes"
    shutil.copytree(HOME / COLON, folder / "Classification")
    for number in (1, 76):
        image = folder / "Classification" / f"img{number}" / f"img{number}.webp"
        Image.open(image).convert("RGB").save(image.with_suffix(".bmp"), dpi=(0, 0))
        image.unlink()
    result = fetch_dataset("colon-cancer", folder)
    assert f"{COLON}/img76/img76.bmp" in result.brought
    assert len(result.brought) == 500
    bags = load_dataset("colon-cancer")
    assert bags.n_instances == 22_444
    assert bags.sizes[75] == 1
    assert fetch_dataset("colon-cancer").brought == ()


@needs_real_data("breast-cancer")
def test_fetch_dataset_accepts_images_with_known_hashes_only(empty_home, tmp_path, monkeypatch):
    """The hashes of the public TIFF files are known; a TIFF file written by Pillow has a different hash."""
    name = "ytma10_010704_benign1_ccd"
    shutil.copytree(HOME / "breast_cancer", tmp_path / "flat")
    Image.open(tmp_path / "flat" / f"{name}.webp").save(tmp_path / "flat" / f"{name}.tif", compression="packbits")
    assert len(fetch_dataset("breast-cancer", tmp_path / "flat").brought) == 58
    (tmp_path / "flat" / f"{name}.webp").unlink()
    (empty_home / "breast_cancer" / f"{name}.webp").unlink()
    part = next(part for part in ORIGINS["breast-cancer"].parts if part.key.endswith(name))
    with pytest.raises(InputError, match=r"benign1_ccd\.tif is not") as caught:
        fetch_dataset("breast-cancer", tmp_path / "flat")
    assert part.forms[f"{part.key}.tif"] in str(caught.value)
    written = hash_file(tmp_path / "flat" / f"{name}.tif")
    assert written in str(caught.value)
    known = part._replace(forms={**part.forms, f"{part.key}.tif": written})
    monkeypatch.setattr(origins, "list_dataset_files", lambda name: (known,))
    assert fetch_dataset("breast-cancer", tmp_path / "flat").brought == (f"breast_cancer/{name}.tif",)
    monkeypatch.undo()
    fetched, original = empty_home / "breast_cancer" / f"{name}.tif", HOME / "breast_cancer" / f"{name}.webp"
    np.testing.assert_array_equal(read_image_of_size(fetched, 896, 768), read_image_of_size(original, 896, 768))


@needs_real_data("mnist-bags", "newsgroups-1")
def test_fetch_dataset_accepts_other_compression_and_plain_files(empty_home, tmp_path, monkeypatch):
    for file in (HOME / "mnist").iterdir():
        (tmp_path / file.name).write_bytes(gzip.compress(read_content(file), 1))
    plain = tmp_path / "t10k-labels-idx1-ubyte.gz"
    plain.with_suffix("").write_bytes(read_content(plain))
    plain.unlink()
    assert "mnist/t10k-labels-idx1-ubyte" in fetch_dataset("mnist-bags", tmp_path).brought
    fetched = load_dataset("mnist-bags", split="test", n_bags=20).instances
    for file in (HOME / "mil_extra" / "Newsgroups1").iterdir():
        (tmp_path / file.stem).write_bytes(read_content(file))
    assert "mil_extra/Newsgroups1/data.csv" in fetch_dataset("newsgroups-1", str(tmp_path)).brought
    assert load_dataset("newsgroups-1").n_instances == 5443
    monkeypatch.setenv("BAGWISE_DATA", str(HOME))
    np.testing.assert_array_equal(fetched, load_dataset("mnist-bags", split="test", n_bags=20).instances)


@needs_real_data("newsgroups-1")
def test_fetch_dataset_copies_nothing_if_one_file_is_wrong_or_missing(empty_home, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(HOME / "mil_extra" / "Newsgroups1", folder)
    changed = bytearray((folder / "labels.csv.xz").read_bytes())
    changed[40] ^= 1
    (folder / "labels.csv.xz").write_bytes(bytes(changed))
    with pytest.raises(InputError, match=r"labels\.csv\.xz is not labels\.csv: its SHA-256 is [0-9a-f]{64} instead of"):
        fetch_dataset("newsgroups-1", folder)
    (folder / "labels.csv.xz").unlink()
    with pytest.raises(InputError, match=r"labels\.csv\.xz or labels\.csv is missing"):
        fetch_dataset("newsgroups-1", folder)
    assert not empty_home.exists()


@needs_real_data("fox", "tiger")
def test_fetch_dataset_replaces_a_wrong_file_in_the_data_home(empty_home):
    fetch_dataset("fox", HOME)
    shutil.copyfile(HOME / "mil_classic" / "tiger.mat", empty_home / "mil_classic" / "fox.mat")
    assert fetch_dataset("fox", HOME).brought == ("mil_classic/fox.mat",)
    assert hash_file(empty_home / "mil_classic" / "fox.mat") == hash_file(HOME / "mil_classic" / "fox.mat")


@needs_real_data("fox")
def test_fetch_dataset_leaves_nothing_if_a_copy_fails(empty_home, monkeypatch):
    def copy_half(source, target):
        target.write_bytes(source.read_bytes()[:1000])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", copy_half)
    with pytest.raises(OSError, match="No space"):
        fetch_dataset("fox", HOME)
    assert list_files(empty_home) == []


@needs_real_data("newsgroups-1")
@pytest.mark.parametrize("layout", ["mil_extra/Newsgroups1/", "Newsgroups1/", ""])
def test_fetch_dataset_downloads_any_layout_and_no_byte_twice(empty_home, serve, layout):
    contents = {file.name: file.read_bytes() for file in (HOME / "mil_extra" / "Newsgroups1").iterdir()}
    server = serve({f"base/{layout}{name}": content for name, content in contents.items()}, cut=20_000)
    result = fetch_dataset("newsgroups-1", f"{server.address}/base/")
    assert len(result.brought) == 3
    assert server.sent == sum(map(len, contents.values()))
    assert sorted(result.brought) == list_files(empty_home)


@needs_real_data("fox")
def test_fetch_dataset_resumes_and_removes_partial_downloads(empty_home, serve):
    whole = (HOME / "mil_classic" / "fox.mat").read_bytes()
    target, part = (empty_home / "mil_classic" / name for name in ("fox.mat", "fox.mat.part"))
    part.parent.mkdir(parents=True)
    part.write_bytes(whole[:-500])
    server = serve({"fox.mat": whole})
    fetch_dataset("fox", server.address)
    assert server.sent == 500
    assert list_files(empty_home) == ["mil_classic/fox.mat"]
    part.write_bytes(b"of another file" * 100)  # the hash shows that the parts are of different files
    target.unlink()
    fetch_dataset("fox", server.address)
    assert list_files(empty_home) == ["mil_classic/fox.mat"]
    part.write_bytes(whole[:-500])
    target.unlink()
    fetch_dataset("fox", HOME)  # copies from a folder, so the partial download is no longer needed
    assert list_files(empty_home) == ["mil_classic/fox.mat"]


@needs_real_data("musk1", "musk2")
def test_fetch_dataset_downloads_from_the_public_url_by_default(empty_home, serve, monkeypatch):
    swapped = {"musk1.mat": "musk2.mat", "musk2.mat": "musk1.mat"}  # as in the public repository
    server = serve({served: (HOME / "mil_classic" / name).read_bytes() for served, name in swapped.items()})
    for name in ("musk1", "musk2"):
        origin = ORIGINS[name]
        url = f"{server.address}/{origin.address.rsplit('/', 1)[1]}"
        monkeypatch.setitem(DATASETS, name, DATASETS[name]._replace(origin=origin._replace(address=url)))
        fetch_dataset(name)
    assert [load_dataset(name).n_bags for name in ("musk1", "musk2")] == [92, 102]
    shutil.rmtree(empty_home)
    with pytest.raises(InputError, match=r"musk2\.mat under another name.*the download was deleted"):
        fetch_dataset("musk1", server.address)
    assert list_files(empty_home) == []


@pytest.mark.parametrize(
    ("name", "source", "message"),
    [
        ("colon cancer", None, r"Warwick.*bagwise data fetch colon-cancer --from FOLDER"),
        ("digits", None, "digits is generated when it is loaded; there is nothing to fetch"),
        ("elefant", None, "did you mean 'elephant'"),
        ("fox", " ", "--from is empty"),
        ("fox", "ftp://example.org/fox.mat", "'ftp://example.org/fox.mat' is neither a folder nor a URL"),
    ],
)
def test_fetch_dataset_rejects_an_unusable_source_with_the_fix(empty_home, name, source, message):
    with pytest.raises(InputError, match=message):
        fetch_dataset(name, source)
    assert not empty_home.exists()


def test_fetch_dataset_names_a_file_that_the_server_does_not_have(empty_home, serve):
    with pytest.raises(InputError, match=r"has no bagids\.csv\.xz or bagids\.csv; get newsgroups-1 from"):
        fetch_dataset("newsgroups-1", serve({}).address)
    assert not empty_home.exists()
