from pathlib import Path

import numpy as np
import pytest

from bagwise.errors import InputError
from bagwise.formats.contract import FeatureFolder, Slide
from bagwise.formats.slide_reader import SlideReader

FIRST = Slide(np.ones((2, 3), dtype=np.float32), np.zeros((2, 2)), 256, "uni")


class Given(FeatureFolder):
    """Slides that the test holds."""

    tool = "test"

    def __init__(self, **slides):
        super().__init__(Path("folder"))
        self.held = slides

    @classmethod
    def recognise(cls, folder):
        return None

    def slides(self):
        return sorted(self.held)

    def read(self, slide):
        return self.held[slide]

    def sources(self, slide):
        return []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"extractor": "virchow"}, "slide 'b' has features of virchow, not of uni"),
        ({"extractor": None}, "an extractor's name: no, slide 'a' yes"),
        ({"features": np.ones((2, 4), dtype=np.float32)}, "features of width 4, slide 'a' 3"),
        ({"features": np.ones((2, 3), dtype=np.float16)}, "numbers of kind float16, slide 'a' float32"),
        (
            {"features": np.full((2, 3), np.nan, dtype=np.float32)},
            "slide 'b' has 6 NaN or infinite features, first in row 0",
        ),
        ({"positions": None}, "positions: no, slide 'a' yes"),
        ({"tile_size": None}, "a tile size: no, slide 'a' yes"),
    ],
)
def test_a_slide_that_does_not_fit_ends_the_reading_or_is_noted(changes, message):
    folder = Given(a=FIRST, b=FIRST._replace(**changes), c=FIRST)
    reader = SlideReader(folder.read)
    reader.read("a")
    with pytest.raises(InputError, match=f"{message}.*--skip-bad"):
        reader.read("b")
    patient = SlideReader(folder.read, skip_bad=True)
    assert [patient.read(name) is not None for name in "abc"] == [True, False, True]
    assert list(patient.bad) == ["b"]
    assert patient.extractor == "uni"


def test_an_empty_slide_is_set_aside_and_a_bad_first_one_decides_nothing():
    empty = FIRST._replace(features=np.empty((0, 3)))
    bad = FIRST._replace(features=np.full((1, 9), np.inf), extractor="other")
    reader = SlideReader(Given(a=empty, b=bad, c=FIRST).read, skip_bad=True)
    assert [reader.read(name) is not None for name in "abc"] == [False, False, True]
    assert (reader.empty, list(reader.bad), reader.extractor) == (["a"], ["b"], "uni")
