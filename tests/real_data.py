"""Where the tests find real data sets: in the data home of BAGWISE_DATA, or in shared/data beside the checkout."""

import os
from pathlib import Path

import pytest

from bagwise.data.datasets.home import find_file
from bagwise.data.datasets.origins import ORIGINS

HOME = Path(os.environ.get("BAGWISE_DATA") or Path(__file__).parents[2] / "shared" / "data")


def needs_real_data(*names: str) -> pytest.MarkDecorator:
    """Skip a test where one of these data sets is not at hand."""
    missing = [name for name in names if not all(find_file(part, HOME) for part in ORIGINS[name].parts)]
    return pytest.mark.skipif(bool(missing), reason=f"{', '.join(missing)} not in BAGWISE_DATA nor beside the checkout")
