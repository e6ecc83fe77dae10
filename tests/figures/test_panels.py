import numpy as np
from matplotlib.figure import Figure

from bagwise.figures import draw_panels


def test_pictures_stand_side_by_side_under_their_titles_as_they_are():
    pictures = {"(a) $x$": np.full((3, 5, 3), 7, np.uint8), "(b)": np.full((3, 5, 3), 9, np.uint8)}
    figure = draw_panels(Figure(), pictures)
    assert [axes.get_title() for axes in figure.axes] == list(pictures)
    for axes, picture in zip(figure.axes, pictures.values(), strict=True):
        np.testing.assert_array_equal(axes.images[0].get_array(), picture)
        assert not axes.title.get_parse_math()
