import gzip
import shutil

import numpy as np
import pytest
from PIL import Image

from bagwise.datasets import DATASETS, fetch, load_dataset, origins
from bagwise.datasets.images import read_image
from bagwise.datasets.origins import ORIGINS
from bagwise.datasets.wrappers import content
from bagwise.errors import InputError
from bagwise.files import sha256
from real_data import HOME, needs_real_data

SMALL = ["musk1", "fox", "newsgroups-1", "ucsb-breast"]
COLON = "colon_cancer/CRCHistoPhenotypes_2016_04_28/Classification"


def everything(folder):
    return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file())


@needs_real_data(*SMALL)
@pytest.mark.parametrize("name", SMALL)
def test_a_set_comes_from_a_folder_and_a_second_fetch_leaves_it_alone(name, empty_home):
    fetched = fetch(name, HOME)
    assert sorted(fetched.brought) == everything(empty_home)
    assert not fetched.kept
    times = {path: (empty_home / path).stat().st_mtime_ns for path in fetched.brought}
    again = fetch(name)  # no source is needed for what is there
    assert not again.brought
    assert set(again.kept) == set(fetched.brought)
    assert times == {path: (empty_home / path).stat().st_mtime_ns for path in again.kept}
    assert load_dataset(name).n_bags > 0


@needs_real_data("colon-cancer")
def test_the_public_bitmaps_of_colon_are_taken_beside_our_form(empty_home, tmp_path):
    folder = tmp_path / "CRCHistoPhenotypes"
    shutil.copytree(HOME / COLON, folder / "Classification")
    for number in (1, 76):
        image = folder / "Classification" / f"img{number}" / f"img{number}.webp"
        Image.open(image).convert("RGB").save(image.with_suffix(".bmp"), dpi=(0, 0))
        image.unlink()
    fetched = fetch("colon-cancer", folder)
    assert f"{COLON}/img76/img76.bmp" in fetched.brought
    assert len(fetched.brought) == 500
    bags = load_dataset("colon-cancer")
    assert bags.n_instances == 22_444
    assert bags.sizes[75] == 1
    assert fetch("colon-cancer").brought == ()


@needs_real_data("breast-cancer")
def test_pictures_are_taken_in_the_forms_whose_hashes_are_known(empty_home, tmp_path, monkeypatch):
    """The hashes of the public TIFs are known; a TIF that Pillow writes has other bytes, hence another hash."""
    name = "ytma10_010704_benign1_ccd"
    shutil.copytree(HOME / "breast_cancer", tmp_path / "flat")
    Image.open(tmp_path / "flat" / f"{name}.webp").save(tmp_path / "flat" / f"{name}.tif", compression="packbits")
    assert len(fetch("breast-cancer", tmp_path / "flat").brought) == 58
    (tmp_path / "flat" / f"{name}.webp").unlink()
    (empty_home / "breast_cancer" / f"{name}.webp").unlink()
    part = next(part for part in ORIGINS["breast-cancer"].parts if part.key.endswith(name))
    with pytest.raises(InputError, match=r"benign1_ccd\.tif is not") as refused:
        fetch("breast-cancer", tmp_path / "flat")
    assert part.forms[f"{part.key}.tif"] in str(refused.value)
    written = sha256(tmp_path / "flat" / f"{name}.tif")
    assert written in str(refused.value)
    known = part._replace(forms={**part.forms, f"{part.key}.tif": written})
    monkeypatch.setattr(origins, "read_parts", lambda name: (known,))
    assert fetch("breast-cancer", tmp_path / "flat").brought == (f"breast_cancer/{name}.tif",)
    monkeypatch.undo()
    fetched, ours = empty_home / "breast_cancer" / f"{name}.tif", HOME / "breast_cancer" / f"{name}.webp"
    np.testing.assert_array_equal(read_image(fetched, 896, 768), read_image(ours, 896, 768))


@needs_real_data("mnist-bags", "newsgroups-1")
def test_other_wrappers_and_plain_files_are_taken(empty_home, tmp_path, monkeypatch):
    for file in (HOME / "mnist").iterdir():
        (tmp_path / file.name).write_bytes(gzip.compress(content(file), 1))
    plain = tmp_path / "t10k-labels-idx1-ubyte.gz"
    plain.with_suffix("").write_bytes(content(plain))
    plain.unlink()
    assert "mnist/t10k-labels-idx1-ubyte" in fetch("mnist-bags", tmp_path).brought
    fetched = load_dataset("mnist-bags", split="test", n_bags=20).instances
    for file in (HOME / "mil_extra" / "Newsgroups1").iterdir():
        (tmp_path / file.stem).write_bytes(content(file))
    assert "mil_extra/Newsgroups1/data.csv" in fetch("newsgroups-1", str(tmp_path)).brought
    assert load_dataset("newsgroups-1").n_instances == 5443
    monkeypatch.setenv("BAGWISE_DATA", str(HOME))
    np.testing.assert_array_equal(fetched, load_dataset("mnist-bags", split="test", n_bags=20).instances)


@needs_real_data("newsgroups-1")
def test_one_wrong_file_and_nothing_is_copied(empty_home, tmp_path):
    folder = tmp_path / "copy"
    shutil.copytree(HOME / "mil_extra" / "Newsgroups1", folder)
    changed = bytearray((folder / "labels.csv.xz").read_bytes())
    changed[40] ^= 1
    (folder / "labels.csv.xz").write_bytes(bytes(changed))
    with pytest.raises(InputError, match=r"labels\.csv\.xz is not labels\.csv: its SHA-256 is [0-9a-f]{64} instead of"):
        fetch("newsgroups-1", folder)
    (folder / "labels.csv.xz").unlink()
    with pytest.raises(InputError, match=r"labels\.csv\.xz or labels\.csv is missing"):
        fetch("newsgroups-1", folder)
    assert not empty_home.exists()


@needs_real_data("fox", "tiger")
def test_a_wrong_file_in_the_home_is_replaced_in_whichever_form(empty_home):
    fetch("fox", HOME)
    shutil.copyfile(HOME / "mil_classic" / "tiger.mat", empty_home / "mil_classic" / "fox.mat")
    assert fetch("fox", HOME).brought == ("mil_classic/fox.mat",)
    assert sha256(empty_home / "mil_classic" / "fox.mat") == sha256(HOME / "mil_classic" / "fox.mat")


@needs_real_data("fox")
def test_a_copy_that_fails_leaves_nothing(empty_home, monkeypatch):
    def half(source, target):
        target.write_bytes(source.read_bytes()[:1000])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", half)
    with pytest.raises(OSError, match="No space"):
        fetch("fox", HOME)
    assert everything(empty_home) == []


@needs_real_data("newsgroups-1")
@pytest.mark.parametrize("layout", ["mil_extra/Newsgroups1/", "Newsgroups1/", ""])
def test_an_address_serves_any_layout_and_cut_connections_cost_no_byte_twice(empty_home, serve, layout):
    contents = {file.name: file.read_bytes() for file in (HOME / "mil_extra" / "Newsgroups1").iterdir()}
    server = serve({f"base/{layout}{name}": held for name, held in contents.items()}, cut=20_000)
    fetched = fetch("newsgroups-1", f"{server.address}/base/")
    assert len(fetched.brought) == 3
    assert server.sent == sum(map(len, contents.values()))
    assert sorted(fetched.brought) == everything(empty_home)


@needs_real_data("fox")
def test_a_fetch_that_was_given_up_goes_on_when_it_is_made_again(empty_home, serve):
    whole = (HOME / "mil_classic" / "fox.mat").read_bytes()
    part = empty_home / "mil_classic" / "fox.mat.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(whole[:-500])
    server = serve({"fox.mat": whole})
    fetch("fox", server.address)
    assert server.sent == 500
    assert everything(empty_home) == ["mil_classic/fox.mat"]
    part.write_bytes(b"of another file" * 100)
    (empty_home / "mil_classic" / "fox.mat").unlink()
    fetch("fox", server.address)  # the hash tells that the parts do not belong together: once more from the start
    assert everything(empty_home) == ["mil_classic/fox.mat"]
    part.write_bytes(whole[:-500])
    (empty_home / "mil_classic" / "fox.mat").unlink()
    fetch("fox", HOME)  # from a folder after all: the part is of no use any more
    assert everything(empty_home) == ["mil_classic/fox.mat"]


@needs_real_data("musk1", "musk2")
def test_the_public_addresses_are_asked_by_default(empty_home, serve, monkeypatch):
    swapped = {f"{one}.mat": (HOME / "mil_classic" / f"{two}.mat").read_bytes() for one, two in PAIRS}
    server = serve(swapped)
    for name in ("musk1", "musk2"):
        origin = ORIGINS[name]
        address = f"{server.address}/{origin.address.rsplit('/', 1)[1]}"
        monkeypatch.setitem(DATASETS, name, DATASETS[name]._replace(origin=origin._replace(address=address)))
        fetch(name)
    assert [load_dataset(name).n_bags for name in ("musk1", "musk2")] == [92, 102]
    shutil.rmtree(empty_home)
    with pytest.raises(InputError, match=r"musk2\.mat under another name.*it was not kept"):
        fetch("musk1", server.address)
    assert everything(empty_home) == []


PAIRS = [("musk1", "musk2"), ("musk2", "musk1")]


def test_what_cannot_be_fetched_says_what_to_do(empty_home, serve):
    with pytest.raises(InputError, match=r"Warwick.*bagwise data fetch colon-cancer --from FOLDER"):
        fetch("colon cancer")
    with pytest.raises(InputError, match="nothing to fetch"):
        fetch("digits")
    with pytest.raises(InputError, match="did you mean 'elephant'"):
        fetch("elefant")
    with pytest.raises(InputError, match="--from is empty"):
        fetch("fox", " ")
    with pytest.raises(InputError, match="neither a folder nor an address"):
        fetch("fox", "ftp://example.org/fox.mat")
    with pytest.raises(InputError, match=r"has no bagids\.csv\.xz or bagids\.csv; get newsgroups-1 from"):
        fetch("newsgroups-1", serve({}).address)
    assert not empty_home.exists()
