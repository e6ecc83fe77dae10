from pathlib import Path

import pytest

from bagwise.errors import InputError
from bagwise.formats.optional import need


def test_a_missing_package_is_named_with_the_command_that_installs_it():
    with pytest.raises(InputError, match=r"slide.h5 is read with no_such_package.*pip install 'bagwise\[features\]'"):
        need("no_such_package.part", Path("slide.h5"), "features")
