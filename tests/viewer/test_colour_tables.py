import numpy as np

from bagwise.explain.heatmaps.colours import coloured, colouring
from bagwise.viewer.colour_tables import colour_tables


def test_the_page_has_the_colours_of_the_pictures():
    tables = colour_tables()
    for kind, lowest in (("sequential", 0), ("diverging", -1)):
        for name, table in tables[kind].items():
            colours = colouring(lowest < 0, name)
            for value in (lowest, 0.25, 0.5, 1):
                place = round((value - lowest) / (1 - lowest) * (len(table) - 1))
                assert table[place] == coloured(np.array([value]), colours)[0].tolist()


def test_zero_is_the_neutral_middle():
    for table in colour_tables()["diverging"].values():
        middle = table[len(table) // 2]
        assert len(table) % 2 == 1
        assert max(middle) - min(middle) <= 5
        assert min(middle) > 230
