import numpy as np
import pytest
from PIL import Image

from bagwise.data.datasets import breast
from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from real_data import HOME, needs_real_data

TILES = {200: (460, 174), 215: (489, 236), 230: (512, 297)}  # mean and smallest number of tiles, by ``white``


@pytest.fixture(scope="module")
def bags():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BAGWISE_DATA", str(HOME))
        return breast.load_breast()


@needs_real_data("breast-cancer")
@pytest.mark.parametrize(
    "white", [pytest.param(white, marks=pytest.mark.full if i else []) for i, white in enumerate(TILES)]
)
def test_load_breast_drops_white_tiles_to_the_documented_counts(white):
    sizes = load_dataset("breast-cancer", white=white).sizes
    assert (round(sizes.mean()), sizes.min()) == TILES[white]


@needs_real_data("breast-cancer")
def test_load_breast_reads_labels_groups_and_names_from_file_names(bags):
    assert len(bags) == 58
    assert bags.labels.sum() == 26
    assert [("malignant" in name) for name in bags.names] == (bags.labels == 1).tolist()
    groups, counts = np.unique(bags.groups, return_counts=True)
    assert len(groups) == 10
    assert {group: count for group, count in zip(groups, counts, strict=True) if count != 6} == {"ytma49_072303": 4}
    assert not bags.labels[bags.groups == "ytma55_030603"].any()
    assert all(name.startswith(group) for name, group in zip(bags.names, bags.groups, strict=True))


@needs_real_data("breast-cancer")
def test_load_breast_cuts_each_tile_at_its_position(bags):
    for bag in (0, 57):
        image = np.asarray(Image.open(HOME / "breast_cancer" / f"{bags.names[bag]}.webp").convert("RGB"))
        rows = range(bags.offsets[bag], bags.offsets[bag + 1])
        for row in list(rows)[::50]:
            x, y = bags.positions[row]
            np.testing.assert_array_equal(bags.instances[row], image[y : y + 32, x : x + 32])
    assert bags.instances.dtype == np.uint8
    assert bags.instances.flags.c_contiguous
    assert set(bags.tile_sizes) == {32}


@pytest.mark.parametrize("options", [{"white": -1}, {"white": 256}, {"drop": 0}, {"drop": 1.5}])
def test_load_breast_rejects_invalid_options(options):
    ((name, value),) = options.items()
    with pytest.raises(InputError, match=rf"grey value from 0 to 255.*{name}={value}"):
        breast.load_breast(**options)


@needs_real_data("breast-cancer")
def test_load_breast_names_an_image_without_tiles_and_the_fix():
    message = r"white=0 and drop=0\.1 leave ytma10_010704_benign1_ccd without a tile; raise one of them"
    with pytest.raises(InputError, match=message):
        breast.load_breast(white=0, drop=0.1)
