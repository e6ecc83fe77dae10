import numpy as np
import pytest

from bagwise.explain.heatmaps.captions import MIN_WIDTH, Caption, add_caption
from bagwise.explain.heatmaps.scales import SCALES, apply_colours, apply_scale, apply_signed_scale, choose_colour_map


def caption(layer="attention weight", output="class tumour", scale="rank"):
    return Caption(layer, output, apply_scale(np.array([0.1, 0.9]), scale))


def test_caption_names_layer_scale_and_class():
    assert str(caption()) == "attention weight, rank scale, class tumour"
    assert str(caption(output=None)) == "attention weight, rank scale"
    assert len({str(caption(scale=scale)) for scale in SCALES}) == len(SCALES)


@pytest.mark.parametrize("width", [100, 700, 1001, 2500])
def test_add_caption_keeps_the_picture_above_it(width):
    picture = np.random.default_rng(0).integers(0, 256, (50, width, 3), dtype=np.uint8)
    found = add_caption(picture, caption(), choose_colour_map(False))
    np.testing.assert_array_equal(found[:50, :width], picture)
    assert found.shape[1] == max(width, MIN_WIDTH)
    assert (found[:50, width:] == 255).all()
    assert (found[50:] < 100).all(axis=2).sum() > 300, "the text is visible"


@pytest.mark.parametrize("signed", [False, True])
def test_add_caption_bar_shows_all_colours(signed):
    colours = choose_colour_map(signed)
    scaled = (apply_signed_scale if signed else apply_scale)(np.array([0.1, 0.9]), "raw")
    rendered = add_caption(np.zeros((1, 600, 3), np.uint8), Caption("a", None, scaled), colours)[1:].astype(int)
    bar = rendered[np.argmax(np.ptp(rendered, axis=2).sum(axis=1))]  # the row with the strongest colours
    for share in (0.02, 0.25, 0.5, 0.75, 0.98):
        expected = apply_colours(np.array([colours.lowest + share * (1 - colours.lowest)]), colours)[0]
        assert np.abs(bar[10 + round(350 * share)] - expected).max() < 12


def test_add_caption_depends_on_the_text_and_the_ends_of_the_scale():
    def render(caption):
        return add_caption(np.zeros((1, 600, 3), np.uint8), caption, choose_colour_map(False))

    other_end = Caption("attention weight", "tumour", apply_scale(np.array([0.1, 0.8]), "rank"))
    assert (render(caption()) != render(other_end)).any()
    assert (render(caption()) != render(caption(output="class stroma"))).any()


def test_add_caption_wraps_long_and_unusual_names():
    short = add_caption(np.zeros((5, 500, 3), np.uint8), caption(), choose_colour_map(False))
    found = add_caption(
        np.zeros((5, 500, 3), np.uint8), caption(output="$x_1$ 癌 " + "long " * 30), choose_colour_map(False)
    )
    assert len(found) > len(short)
    assert (found[6:, -5:] == 255).all(), "nothing is cut off on the right"
