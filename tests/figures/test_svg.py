"""Figures as SVG: reproducible, self-contained, and accessible to screen readers."""

import re
from xml.etree import ElementTree

import numpy as np
from matplotlib.figure import Figure

from bagwise.figures.prediction_plots import plot_confusion
from bagwise.figures.style import BLUE, INK, use_style
from bagwise.figures.svg import figure_to_svg

HOSTILE = '<script>alert(1)</script> & "x"'


def make_svg(name="figure", title="a title", plot=lambda axes: axes.plot([0, 1], [1, 0], color=BLUE)):
    with use_style():
        figure = Figure(figsize=(3, 2))
        plot(figure.subplots())
        return figure_to_svg(figure, name, title, "a description")


def test_figure_to_svg_is_reproducible():
    assert make_svg() == make_svg()


def test_figure_to_svg_has_no_links_scripts_or_page_styles():
    text = make_svg()
    tags = {element.tag for element in ElementTree.fromstring(text).iter()}
    assert not tags & {"style", "metadata", "script", "image"}
    assert "http" not in text
    assert "xmlns" not in text


def test_figure_to_svg_uses_the_colours_of_the_page():
    text = make_svg()
    assert "currentColor" in text
    assert INK not in text
    assert f"var(--series-1, {BLUE})" in text


def test_figure_to_svg_has_a_title_and_a_description_for_screen_readers():
    root = ElementTree.fromstring(make_svg(title=HOSTILE))
    texts = {element.attrib.get("id"): element.text for element in root.iter()}
    assert root.attrib["role"] == "img"
    assert [texts[name] for name in root.attrib["aria-labelledby"].split()] == [HOSTILE, "a description"]


def test_figure_to_svg_refers_only_to_its_own_ids_and_shares_none_with_another_figure():
    def plot(axes):
        plot_confusion(axes, np.eye(3, dtype=int), ["a", "b", "c"])
        axes.scatter([1, 2], [1, 2])
        axes.plot([0, 1], [0, 1], marker="o")

    first, second = make_svg("first", plot=plot), make_svg("second", plot=plot)
    ids = [set(re.findall(r'\bid="([^"]+)"', text)) for text in (first, second)]
    assert not ids[0] & ids[1]
    references = set(re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', first))
    assert references
    assert {url or href for url, href in references} <= ids[0]


def test_figure_to_svg_escapes_names():
    text = make_svg(plot=lambda axes: plot_confusion(axes, np.eye(2, dtype=int), ["<script>", "中文 & $"]))
    assert "<script" not in text
    assert "&lt;script&gt;" in text
    assert "中文 &amp; $" in text
