"""Conversion of a figure to SVG for a web page: reproducible, self-contained, and accessible to screen readers.

Text is not converted to paths. Text and axes have the text colour of the page, and a page can set the colours of the
series with --series-1, --series-2 …. All ids are prefixed with the name of the figure, so that several figures can be
embedded in one page.
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


def figure_to_svg(figure: Figure, name: str, title: str, description: str) -> str:
    """Convert a figure to an ``<svg>`` element without namespaces.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Figure to convert.
    name : str
        Name of the figure, which must be unique in the page.
    title : str
        Short text for screen readers.
    description : str
        Longer text for screen readers.

    Returns
    -------
    str
        SVG element; it is always the same for the same figure.
    """
    root = ElementTree.fromstring(_render(figure, name))
    _remove_elements(root, "metadata", "style")
    for element in root.iter():
        element.tag = _strip_namespace(element.tag)
        element.attrib = {
            _strip_namespace(key): _adapt_attribute(_strip_namespace(key), value, name)
            for key, value in element.attrib.items()
        }
    root.attrib = {
        "viewBox": root.attrib["viewBox"],
        "role": "img",
        "aria-labelledby": f"{name}-title {name}-description",
        "style": "stroke-linejoin: round; stroke-linecap: butt",
    }
    for index, (tag, suffix, text) in enumerate([("title", "title", title), ("desc", "description", description)]):
        element = ElementTree.Element(tag, {"id": f"{name}-{suffix}"})
        element.text = text
        root.insert(index, element)
    return ElementTree.tostring(root, encoding="unicode")


def _render(figure: Figure, name: str) -> str:
    stream = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}), warnings.catch_warnings():
        # the font of matplotlib is only used to measure text; the browser of the reader has the glyph
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure.savefig(stream, format="svg", metadata=NO_METADATA)
    return stream.getvalue()


def _remove_elements(root: ElementTree.Element, *tags: str) -> None:
    """Remove elements that would affect the whole page (style) or link to other sites (metadata)."""
    for parent in list(root.iter()):
        for child in list(parent):
            if _strip_namespace(child.tag) in tags:
                parent.remove(child)


def _strip_namespace(name: str) -> str:
    return name.rpartition("}")[2]


def _adapt_attribute(key: str, value: str, name: str) -> str:
    """Prefix ids with the name of the figure, and replace colours with those of the page."""
    if key == "id":
        return f"{name}-{value}"
    if key == "href":
        return f"#{name}-{value.removeprefix('#')}"
    if key == "style":  # browsers resolve CSS variables only in this attribute
        for colour, page_colour in PAGE_COLOURS.items():
            value = value.replace(colour, page_colour)
    return REFERENCE.sub(f"url(#{name}-", value)
