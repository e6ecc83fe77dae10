"""Two sets of means with their errors, side by side: as dots by name, or as lines along a number."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from bagwise.figures.style import BLUE, VERMILLION, grid, legend, line_style, shortened

Value = tuple[float, float | None]  # a mean and its error, where it has one
LONGEST_NAME = 18
APART = 0.14


def draw_dots_beside(
    axes: Axes, pairs: Mapping[str, tuple[Value | None, Value | None]], words: tuple[str, str]
) -> Axes:
    """A row for each name, from the top down: the first value above the second, each with a bar of one error."""
    places = np.arange(len(pairs))[::-1]
    for number, (colour, marker, shift) in enumerate(((BLUE, "o", APART), (VERMILLION, "D", -APART))):
        found = [(place, pair[number]) for place, pair in zip(places, pairs.values(), strict=True)]
        own = [(place, *value) for place, value in found if value is not None]
        axes.errorbar(
            [mean for _, mean, _ in own],
            [place + shift for place, _, _ in own],
            xerr=[error or 0.0 for *_, error in own],
            fmt=marker,
            color=colour,
            markersize=4,
            elinewidth=1.2,
            linestyle="none",
            label=words[number],
        )
    axes.set_yticks(places, [shortened(name, LONGEST_NAME) for name in pairs], parse_math=False)
    axes.set(ylim=(-0.7, len(pairs) - 0.3))
    grid(axes)
    return axes


def draw_lines_beside(
    axes: Axes,
    along: Sequence[float],
    lines: Mapping[str, tuple[Sequence[Value | None], Sequence[Value | None]]],
) -> Axes:
    """For each name a line with bars of one error; what stands beside it is a thin line of the same colour."""
    for number, (name, (ours, theirs)) in enumerate(lines.items()):
        style = line_style(number)
        own = [(place, *value) for place, value in zip(along, ours, strict=True) if value is not None]
        axes.errorbar(
            [place for place, *_ in own],
            [mean for _, mean, _ in own],
            yerr=[error or 0.0 for *_, error in own],
            marker="o",
            markersize=4,
            elinewidth=1,
            label=name,
            **style,
        )
        other = [(place, value[0]) for place, value in zip(along, theirs, strict=True) if value is not None]
        axes.plot([place for place, _ in other], [mean for _, mean in other], **style, linewidth=0.9, alpha=0.55)
    legend(axes, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, columnspacing=1.2, handlelength=4)
    grid(axes)
    return axes
