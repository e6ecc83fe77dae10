import contextlib
import io
import os
import signal
import sys

import pytest

from bagwise.cli import entry
from command_line import bagwise, refused


def test_a_folder_that_cannot_be_written_is_one_clear_message(tmp_path):
    (tmp_path / "file").write_text("in the way")
    message = refused(bagwise("train", "needles", tmp_path / "file" / "run", "--data-option", "n_bags=10"))
    assert "file" in message


def test_a_bug_of_ours_is_not_dressed_up_as_a_mistake_of_the_users(monkeypatch):
    def broken():
        raise RuntimeError("a bug")

    monkeypatch.setattr(entry, "app", broken)
    with pytest.raises(RuntimeError, match="a bug"):
        entry.main()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("own_code", [None, 1, 130])
def test_a_signal_ends_any_command_with_its_code_and_the_way_on(monkeypatch, capsys, number, code, own_code):
    """Whatever exit code the framework makes of an interruption."""

    def interrupted():
        try:
            os.kill(os.getpid(), number)
        except KeyboardInterrupt:
            if own_code is None:
                raise
            sys.exit(own_code)

    monkeypatch.setattr(entry, "app", interrupted)
    monkeypatch.setattr(sys, "argv", ["bagwise", "tile", "slides"])
    with pytest.raises(SystemExit) as ended:
        entry.main()
    assert ended.value.code == code
    assert capsys.readouterr().err.splitlines()[-1] == "  bagwise tile slides"


def test_a_command_that_a_signal_is_meant_to_end_ends_well(monkeypatch, capsys):
    def viewer():
        with contextlib.suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        sys.exit(0)

    monkeypatch.setattr(entry, "app", viewer)
    with pytest.raises(SystemExit) as ended:
        entry.main()
    assert (ended.value.code, capsys.readouterr().err) == (0, "")


def test_a_terminal_without_our_letters_gets_question_marks_and_no_traceback(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    monkeypatch.setattr(entry, "app", lambda: print("0.1 – 0.9", flush=True))
    entry.main()
    assert written.getvalue() == b"0.1 ? 0.9\n"
