import os
import signal

import pytest

from bagwise.cli.interruption import interruptible


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_is_a_request_and_handlers_come_back(number, code):
    before = signal.getsignal(number)
    with interruptible() as interruption:
        assert not interruption.requested()
        os.kill(os.getpid(), number)
        assert interruption.requested()
        assert interruption.exit_code == code
    assert signal.getsignal(number) is before


def test_asking_twice_does_not_wait():
    with interruptible(), pytest.raises(KeyboardInterrupt):  # noqa: PT012 (the second signal is the statement)
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
