"""The width of a kernel: gamma as scikit-learn means it."""

from typing import Any

import numpy as np

from bagwise.errors import InputError
from bagwise.quantities import real_number


def resolve_gamma(gamma: Any, rows: np.ndarray) -> float:
    """A number above zero, or "scale": 1 / (width · variance of the rows); 1 where nothing varies.

    On standardised rows "scale" is one over the number of features that vary.

    >>> resolve_gamma("scale", np.array([[-1.0, 1.0], [1.0, -1.0]]))
    0.5
    """
    if isinstance(gamma, str):
        if gamma != "scale":
            raise InputError(f"gamma is '{gamma}'; give a number above 0, or 'scale'")
        spread = float(rows.shape[1] * rows.var())
        return 1 / spread if spread > 0 else 1.0
    return real_number("gamma", gamma, above=0)
