"""Fixtures for the tests of figures: axes in the style of bagwise, and the contrast of two colours."""

import numpy as np
import pytest


@pytest.fixture
def axes():
    from matplotlib.figure import Figure

    from bagwise.figures import use_style

    with use_style():
        yield Figure().subplots()


@pytest.fixture
def contrast():
    """A function that returns the contrast of two colours, from 1 to 21, as WCAG 2 defines it."""

    def luminance(colour):
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour]
        return float(np.dot([0.2126, 0.7152, 0.0722], linear))

    def compute_contrast(first, second):
        low, high = sorted([luminance(first), luminance(second)])
        return (high + 0.05) / (low + 0.05)

    return compute_contrast
