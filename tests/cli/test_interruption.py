import os
import signal
import time

import pytest

from bagwise.cli.interruption import end_on_signal, handle_interruption, print_resume_hint


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_handle_interruption_records_request_and_restores_handlers(number, code):
    before = signal.getsignal(number)
    with handle_interruption() as interruption:
        assert not interruption.requested()
        os.kill(os.getpid(), number)
        assert interruption.requested()
        assert interruption.exit_code == code
    assert signal.getsignal(number) is before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_handle_interruption_second_signal_ends_at_once(number):
    with handle_interruption(), pytest.raises(KeyboardInterrupt):  # noqa: PT012 (the second signal is the statement)
        os.kill(os.getpid(), number)
        os.kill(os.getpid(), number)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_end_on_signal_ends_block_and_records_signal(number, code):
    before = signal.getsignal(number)
    with end_on_signal() as interruption, pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), number)
    assert interruption.exit_code == code
    assert signal.getsignal(number) is before


def test_handle_interruption_second_signal_reaches_outer_block():
    with end_on_signal() as outer, handle_interruption() as inner:
        os.kill(os.getpid(), signal.SIGTERM)
        assert not outer.requested()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
    assert outer.exit_code == inner.exit_code == 143


def test_print_resume_hint_prints_own_or_given_command(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["/somewhere/bagwise", "compare", "a b.csv"])
    print_resume_hint()
    print_resume_hint(["bagwise", "train", "x", "--resume"])
    lines = capsys.readouterr().err.splitlines()
    assert [line.strip() for line in lines[1::2]] == ["bagwise compare 'a b.csv'", "bagwise train x --resume"]


def test_end_on_signal_works_within_finalizers():
    """Python drops exceptions of finalizers."""

    class Dying:
        def __del__(self):
            signal.raise_signal(signal.SIGTERM)
            time.sleep(0)  # the handler is called here

    def work():
        Dying()
        time.sleep(240)  # until the signal is sent again

    with pytest.raises(KeyboardInterrupt), end_on_signal() as interruption:
        work()
    assert interruption.exit_code == 143
