import numpy as np
import pytest

from bagwise.explain.heatmaps.captions import NARROWEST, Caption, captioned
from bagwise.explain.heatmaps.colours import coloured, colouring
from bagwise.explain.heatmaps.scales import SCALES, to_scale, to_signed_scale


def caption(what="attention weight", class_name="tumour", scale="rank"):
    return Caption(what, class_name, to_scale(np.array([0.1, 0.9]), scale))


def test_a_caption_says_what_on_which_scale_of_which_class():
    assert str(caption()) == "attention weight, rank scale, class tumour"
    assert str(caption(class_name=None)) == "attention weight, rank scale"
    assert len({str(caption(scale=scale)) for scale in SCALES}) == len(SCALES)


@pytest.mark.parametrize("width", [100, 700, 1001, 2500])
def test_the_picture_stays_as_it_is_above_its_caption(width):
    picture = np.random.default_rng(0).integers(0, 256, (50, width, 3), dtype=np.uint8)
    found = captioned(picture, caption(), colouring(False))
    np.testing.assert_array_equal(found[:50, :width], picture)
    assert found.shape[1] == max(width, NARROWEST)
    assert (found[:50, width:] == 255).all()
    assert (found[50:] < 100).all(axis=2).sum() > 300, "letters"


@pytest.mark.parametrize("signed", [False, True])
def test_the_bar_shows_the_colours_from_end_to_end(signed):
    colours = colouring(signed)
    scaled = (to_signed_scale if signed else to_scale)(np.array([0.1, 0.9]), "raw")
    strip = captioned(np.zeros((1, 600, 3), np.uint8), Caption("a", None, scaled), colours)[1:].astype(int)
    bar = strip[np.argmax(np.ptp(strip, axis=2).sum(axis=1))]  # the row with most colour in it
    for share in (0.02, 0.25, 0.5, 0.75, 0.98):
        wanted = coloured(np.array([colours.lowest + share * (1 - colours.lowest)]), colours)[0]
        assert np.abs(bar[10 + round(350 * share)] - wanted).max() < 12


def test_other_words_and_other_ends_make_another_strip():
    def drawn(caption):
        return captioned(np.zeros((1, 600, 3), np.uint8), caption, colouring(False))

    other_end = Caption("attention weight", "tumour", to_scale(np.array([0.1, 0.8]), "rank"))
    assert (drawn(caption()) != drawn(other_end)).any()
    assert (drawn(caption()) != drawn(caption(class_name="stroma"))).any()


def test_long_and_odd_names_are_wrapped_and_drawn():
    usual = captioned(np.zeros((5, 500, 3), np.uint8), caption(), colouring(False))
    found = captioned(np.zeros((5, 500, 3), np.uint8), caption(class_name="$x_1$ 癌 " + "long " * 30), colouring(False))
    assert len(found) > len(usual)
    assert (found[6:, -5:] == 255).all(), "nothing is cut off on the right"
