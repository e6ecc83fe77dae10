import os
import signal
import time

import pytest

from bagwise.cli.interruption import ending, interruptible, tell_the_way_on


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_is_a_request_and_handlers_come_back(number, code):
    before = signal.getsignal(number)
    with interruptible() as interruption:
        assert not interruption.requested()
        os.kill(os.getpid(), number)
        assert interruption.requested()
        assert interruption.exit_code == code
    assert signal.getsignal(number) is before


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_asking_twice_does_not_wait(number):
    with interruptible(), pytest.raises(KeyboardInterrupt):  # noqa: PT012 (the second signal is the statement)
        os.kill(os.getpid(), number)
        os.kill(os.getpid(), number)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_any_other_work_ends_at_once_and_it_is_known_by_what(number, code):
    before = signal.getsignal(number)
    with ending() as interruption, pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), number)
    assert interruption.exit_code == code
    assert signal.getsignal(number) is before


def test_asked_twice_within_work_that_saves_itself_the_outer_block_hears_of_it():
    with ending() as outer, interruptible() as inner:
        os.kill(os.getpid(), signal.SIGTERM)
        assert not outer.requested()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
    assert outer.exit_code == inner.exit_code == 143


def test_the_way_on_is_the_same_command_unless_another_is_given(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["/somewhere/bagwise", "compare", "a b.csv"])
    tell_the_way_on()
    tell_the_way_on(["bagwise", "train", "x", "--resume"])
    lines = capsys.readouterr().err.splitlines()
    assert [line.strip() for line in lines[1::2]] == ["bagwise compare 'a b.csv'", "bagwise train x --resume"]


def test_a_signal_that_comes_within_a_callback_is_heard_all_the_same():
    """What a destructor raises is lost."""

    class Dying:
        def __del__(self):
            signal.raise_signal(signal.SIGTERM)
            time.sleep(0)  # the handler is called here

    def work():
        Dying()
        time.sleep(5)

    with pytest.raises(KeyboardInterrupt), ending() as interruption:
        work()
    assert interruption.exit_code == 143
