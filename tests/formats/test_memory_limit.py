import sys

import pytest

from bagwise.formats.memory_limit import at_most


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells and limits")
def test_asking_for_more_fails_at_once_and_the_limit_passes():
    with at_most(1 << 26), pytest.raises(MemoryError):
        bytes(1 << 31)
    assert len(bytearray(1 << 27)) == 1 << 27
