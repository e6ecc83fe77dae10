"""Tissue is found where it is, on slides with little of it, with much, and with none."""

import numpy as np
import pytest

from bagwise.slides.tissue import find_tissue, otsu


def painted(left, top, right, bottom, colour=(170, 110, 170)):
    grain = np.random.default_rng(0).integers(-4, 5, (120, 160, 1))
    picture = np.full((120, 160, 3), 236) + grain
    picture[top:bottom, left:right] = np.array(colour) + grain[top:bottom, left:right]
    return picture.astype(np.uint8)


@pytest.mark.parametrize("colour", [(170, 110, 170), (225, 190, 210), (90, 40, 110)])
@pytest.mark.parametrize("square", [(40, 30, 100, 90), (5, 5, 155, 115), (100, 60, 115, 75)])
def test_tissue_is_found_where_it_is(square, colour):
    left, top, right, bottom = square
    mask = find_tissue(painted(*square, colour), 20)
    truth = np.zeros((120, 160), dtype=bool)
    truth[top:bottom, left:right] = True
    assert (mask ^ truth).sum() <= 0.02 * truth.sum() + 8  # the corners are rounded


def test_blank_glass_has_no_tissue_and_a_full_picture_is_all_tissue():
    assert not find_tissue(painted(0, 0, 0, 0)).any()
    full = painted(0, 0, 160, 120)
    full[:60] = np.array([230, 170, 200], dtype=np.uint8)  # two stains: Otsu alone would part them
    assert find_tissue(full).all()


def test_black_around_a_scan_is_no_tissue():
    picture = painted(40, 30, 100, 90)
    picture[:, :20] = np.random.default_rng(0).integers(0, 6, (120, 20, 3))
    assert not find_tissue(picture)[:, :20].any()


def test_small_regions_are_dropped_and_small_holes_filled():
    picture = painted(40, 30, 100, 90)
    picture[5:15, 5:15] = (170, 110, 170)
    picture[50:58, 60:68] = 236
    mask = find_tissue(picture)
    assert mask[10, 10]
    assert not mask[54, 64]
    mask = find_tissue(picture, smallest_region=200, smallest_hole=100)
    assert not mask[10, 10]
    assert mask[54, 64]
    assert not find_tissue(picture, smallest_region=200, smallest_hole=20)[54, 64]


def test_otsu_is_that_of_scikit_image():
    filters = pytest.importorskip("skimage.filters")
    generator = np.random.default_rng(0)
    values = np.concatenate([generator.normal(0.2, 0.05, 3000), generator.normal(0.6, 0.1, 1000)]).clip(0, 1)
    counts = np.histogram(values, bins=256, range=(0, 1))[0]
    theirs = filters.threshold_otsu(hist=(counts, (np.arange(256) + 0.5) / 256))
    assert otsu(values) == pytest.approx(theirs, abs=1 / 256)
