from pathlib import Path

import pytest

from bagwise.errors import InputError
from bagwise.formats.claims import MOST_COMPRESSED, SMALL, check_claim


def test_a_claim_is_held_against_what_the_file_holds():
    check_claim(Path("a"), SMALL, 0, "rows")
    check_claim(Path("a"), MOST_COMPRESSED * 10**6, 10**6, "rows")
    for claimed in (MOST_COMPRESSED * 10**6 + 1, -1):
        with pytest.raises(InputError, match="bytes of rows, but holds"):
            check_claim(Path("a"), claimed, 10**6, "rows")
