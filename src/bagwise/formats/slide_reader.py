"""Slides of one folder, one by one: those that fit together are given, empty and bad ones set aside by name."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bagwise.errors import InputError
from bagwise.formats.contract import Slide


class SlideReader:
    """Gives slides of one extractor, with the same companions and the same kind of numbers as the first.

    give : gives a slide by its name
    skip_bad : note a slide that cannot be read or does not fit, instead of ending there
    """

    def __init__(self, give: Callable[[str], Slide], extractor: str | None = None, skip_bad: bool = False) -> None:
        self.give = give
        self.extractor = extractor
        self.skip_bad = skip_bad
        self.first: tuple[str, Slide] | None = None
        self.empty: list[str] = []
        self.bad: dict[str, str] = {}
        self.notes: list[str] = []

    def read(self, name: str) -> Slide | None:
        """A slide that fits, or None for an empty or bad one."""
        try:
            slide = self.give(name)
            if len(slide.features) == 0:
                self.empty.append(name)
                return None
            self._check(name, slide)
        except InputError as error:
            if not self.skip_bad:
                raise InputError(f"{error}; or leave bad slides out with --skip-bad") from None
            self.bad[name] = str(error)
            return None
        if slide.note and slide.note not in self.notes:
            self.notes.append(slide.note)
        return slide

    def _check(self, name: str, slide: Slide) -> None:
        if slide.features.dtype.kind == "f" and not (finite := np.isfinite(slide.features)).all():
            count, row = int((~finite).sum()), int(np.argmin(finite.all(axis=1)))
            raise InputError(
                f"slide '{name}' has {count} NaN or infinite features, first in row {row}; extract it again"
            )
        told = slide.extractor
        if told is not None and self.extractor is not None and told != self.extractor:
            raise InputError(f"slide '{name}' has features of {told}, not of {self.extractor}; use one extractor")
        if self.first is None:
            self.first = name, _without_rows(slide)
            self.extractor = self.extractor or told
        _compare(name, slide, *self.first)


def _without_rows(slide: Slide) -> Slide:
    """What the others are compared with, in little memory."""
    positions = None if slide.positions is None else slide.positions[:0].copy()
    return slide._replace(features=slide.features[:0].copy(), positions=positions)


def _compare(name: str, slide: Slide, other: str, first: Slide) -> None:
    for what, here, there in (
        ("features of width", slide.features.shape[1], first.features.shape[1]),
        ("numbers of kind", slide.features.dtype.name, first.features.dtype.name),
        ("positions:", slide.positions is not None, first.positions is not None),
        ("a tile size:", slide.tile_size is not None, first.tile_size is not None),
        ("an extractor's name:", slide.extractor is not None, first.extractor is not None),
    ):
        if here != there:
            raise InputError(
                f"slide '{name}' has {what} {_word(here)}, slide '{other}' {_word(there)}; make both alike"
            )


def _word(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)
