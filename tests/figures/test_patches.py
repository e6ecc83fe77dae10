"""Rows of patches: every patch in its place, its values as they are."""

import numpy as np
import pytest

from bagwise.figures.patches import draw_patches


@pytest.mark.parametrize("shape", [(9, 7, 3), (9, 7)])
def test_each_patch_is_drawn_in_its_row_and_column_with_its_own_values(axes, shape):
    stored = np.random.default_rng(0).integers(0, 256, (3, *shape), dtype=np.uint8)
    changed = stored.astype(np.float32) * 1.5 - 20
    assert draw_patches(axes, [("stored", stored), ("changed $1", changed[:2])]) is axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["stored", "changed $1"]
    drawn = {
        (round(left), round(-bottom)): picture
        for picture in axes.images
        for left, _, bottom, _ in [picture.get_extent()]
    }
    assert sorted(drawn) == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)]
    for (column, row), picture in drawn.items():
        expected = np.clip([stored, changed][row][column] / 255, 0, 1)  # cut off, not stretched
        np.testing.assert_allclose(picture.get_array(), expected, atol=1e-6)
        assert picture.get_clim() == (0, 1)


def test_patches_of_unlike_sizes_are_drawn_equally_large_and_inside(axes):
    draw_patches(axes, [("wide", np.zeros((2, 39, 39, 3))), ("cut", np.ones((2, 27, 27, 3)))], peak=1.0)
    left, right = axes.get_xlim()
    bottom, top = axes.get_ylim()
    for picture in axes.images:
        x0, x1, y0, y1 = picture.get_extent()
        assert (x1 - x0, y1 - y0) == pytest.approx((1, 1))
        assert left <= x0 < x1 <= right
        assert bottom <= y0 < y1 <= top
    assert (axes.images[-1].get_array() == 1).all()
