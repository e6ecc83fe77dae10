"""A figure as SVG text to stand inside a page: the same bytes each time, nothing from elsewhere, words for all readers.

The text stays text. Ink takes the colour of the page around it, and a page may brighten the series by defining
--series-1, --series-2 …. The names of elements are made the figure's own, so that many figures can share a page.
"""

import io
import re
import warnings
from xml.etree import ElementTree

import matplotlib
from matplotlib.figure import Figure

from bagwise.figures.style import INK, SERIES

NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}
REFERENCE = re.compile(r"url\(#")
PAGE_COLOURS = {INK: "currentColor"} | {
    colour: f"var(--series-{number}, {colour})" for number, colour in enumerate(SERIES, start=1)
}


def svg_text(figure: Figure, name: str, title: str, description: str) -> str:
    """The figure as an <svg> element without namespaces; ``name`` must be unique in the page."""
    root = ElementTree.fromstring(_rendered(figure, name))
    _drop(root, "metadata", "style")
    for element in root.iter():
        element.tag = _local(element.tag)
        element.attrib = {_local(key): _own(_local(key), value, name) for key, value in element.attrib.items()}
    root.attrib = {
        "viewBox": root.attrib["viewBox"],
        "role": "img",
        "aria-labelledby": f"{name}-title {name}-description",
        "style": "stroke-linejoin: round; stroke-linecap: butt",
    }
    for place, (tag, suffix, words) in enumerate([("title", "title", title), ("desc", "description", description)]):
        element = ElementTree.Element(tag, {"id": f"{name}-{suffix}"})
        element.text = words
        root.insert(place, element)
    return ElementTree.tostring(root, encoding="unicode")


def _rendered(figure: Figure, name: str) -> str:
    stream = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}), warnings.catch_warnings():
        # matplotlib only measures with its own font; the reader's browser has the glyph
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(stream, format="svg", metadata=NO_METADATA)
    return stream.getvalue()


def _drop(root: ElementTree.Element, *tags: str) -> None:
    """Remove what would speak to the whole page (style) or name other places (metadata)."""
    for parent in list(root.iter()):
        for child in list(parent):
            if _local(child.tag) in tags:
                parent.remove(child)


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _own(key: str, value: str, name: str) -> str:
    """An attribute with the figure's name before every id, and the page's colours."""
    if key == "id":
        return f"{name}-{value}"
    if key == "href":
        return f"#{name}-{value.removeprefix('#')}"
    if key == "style":  # only there does a browser look variables up
        for colour, of_the_page in PAGE_COLOURS.items():
            value = value.replace(colour, of_the_page)
    return REFERENCE.sub(f"url(#{name}-", value)
