from pathlib import Path

import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.formats.contract import Slide, checked, positive, stems

PATH = Path("slide.h5")
ROWS = np.ones((3, 2))


def test_positions_outside_the_slide_are_refused():
    positions = np.array([[0, 0], [90, 10], [10, 90]])
    slide = Slide(ROWS, positions, 16)
    assert checked(PATH, slide, (100, 100)) is slide
    with pytest.raises(InputError, match=r"1 positions outside the slide of 80 × 100 level-0 pixels.*\(90, 10\)"):
        checked(PATH, slide, (80, 100))
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(InputError, match="outside the slide, the first at"):
            checked(PATH, slide._replace(positions=np.where(positions == 90, bad, positions)))


def test_features_and_positions_must_fit():
    with pytest.raises(InputError, match=r"3 rows of features and positions of shape \(2, 2\)"):
        checked(PATH, Slide(ROWS, np.ones((2, 2))))
    with pytest.raises(InputError, match="expected one row a tile"):
        checked(PATH, Slide(np.ones(3)))
    assert checked(PATH, Slide(ROWS, None, 16)).tile_size is None, "a tile size without positions says nothing"


def test_hidden_files_and_folders_are_no_slides(tmp_path):
    for name in ("b.h5", "a.x.h5", ".draft.h5", "c.pt"):
        (tmp_path / name).touch()
    (tmp_path / "folder.h5").mkdir()
    assert stems(tmp_path, ".h5") == ["a.x", "b"]


def test_an_attribute_that_must_be_positive():
    assert positive(PATH, {"size": 256}, "size") == 256.0
    assert positive(PATH, {}, "size") is None
    for value in (0, -1, "256", [256], float("nan"), True):
        with pytest.raises(InputError, match="the attribute size is"):
            positive(PATH, {"size": value}, "size")
