"""A figure as SVG text: the same bytes each time, nothing from elsewhere, words for all readers."""

import re
from xml.etree import ElementTree

import numpy as np
from matplotlib.figure import Figure

from bagwise import figures
from bagwise.figures.style import BLUE, INK

HOSTILE = '<script>alert(1)</script> & "x"'


def svg(name="one", words="a title", draw=lambda axes: axes.plot([0, 1], [1, 0], color=BLUE)):
    with figures.styled():
        figure = Figure(figsize=(3, 2))
        draw(figure.subplots())
        return figures.svg_text(figure, name, words, "a description")


def test_the_same_figure_gives_the_same_text():
    assert svg() == svg()


def test_it_is_one_element_without_links_scripts_or_styles_of_the_page():
    text = svg()
    tags = {element.tag for element in ElementTree.fromstring(text).iter()}
    assert not tags & {"style", "metadata", "script", "image"}
    assert "http" not in text
    assert "xmlns" not in text


def test_it_takes_the_colours_of_the_page():
    text = svg()
    assert "currentColor" in text
    assert INK not in text
    assert f"var(--series-1, {BLUE})" in text


def test_it_has_a_title_and_a_description_for_those_who_do_not_see_it():
    root = ElementTree.fromstring(svg(words=HOSTILE))
    named = {element.attrib.get("id"): element.text for element in root.iter()}
    assert root.attrib["role"] == "img"
    assert [named[name] for name in root.attrib["aria-labelledby"].split()] == [HOSTILE, "a description"]


def test_every_reference_stays_within_the_figure_and_two_figures_share_no_name():
    def draw(axes):
        figures.draw_confusion(axes, np.eye(3, dtype=int), ["a", "b", "c"])
        axes.scatter([1, 2], [1, 2])
        axes.plot([0, 1], [0, 1], marker="o")

    first, second = svg("first", draw=draw), svg("second", draw=draw)
    names = [set(re.findall(r'\bid="([^"]+)"', text)) for text in (first, second)]
    assert not names[0] & names[1]
    referred = set(re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', first))
    assert referred
    assert {one or other for one, other in referred} <= names[0]


def test_names_in_the_figure_are_escaped_text():
    text = svg(draw=lambda axes: figures.draw_confusion(axes, np.eye(2, dtype=int), ["<script>", "中文 & $"]))
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "中文 &amp; $" in text
