import contextlib
import io
import os
import signal
import sys

import pytest

from bagwise.cli import entry_point
from command_line import bagwise, read_error


def test_main_reports_unwritable_folder_in_one_message(tmp_path):
    (tmp_path / "file").write_text("in the way")
    message = read_error(bagwise("train", "needles", tmp_path / "file" / "run", "--data-option", "n_bags=10"))
    assert "file" in message


def test_main_lets_unexpected_exceptions_through(monkeypatch):
    def broken():
        raise RuntimeError("a bug")

    monkeypatch.setattr(entry_point, "app", broken)
    with pytest.raises(RuntimeError, match="a bug"):
        entry_point.main()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("own_code", [None, 1, 130])
def test_main_signal_gives_exit_code_and_resume_command(monkeypatch, capsys, number, code, own_code):
    """Whatever exit code the framework makes of an interruption."""

    def interrupted():
        try:
            os.kill(os.getpid(), number)
        except KeyboardInterrupt:
            if own_code is None:
                raise
            sys.exit(own_code)

    monkeypatch.setattr(entry_point, "app", interrupted)
    monkeypatch.setattr(sys, "argv", ["bagwise", "tile", "slides"])
    with pytest.raises(SystemExit) as ended:
        entry_point.main()
    assert ended.value.code == code
    assert capsys.readouterr().err.splitlines()[-1] == "  bagwise tile slides"


def test_main_signal_that_ends_a_server_is_no_error(monkeypatch, capsys):
    def viewer():
        with contextlib.suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        sys.exit(0)

    monkeypatch.setattr(entry_point, "app", viewer)
    with pytest.raises(SystemExit) as ended:
        entry_point.main()
    assert (ended.value.code, capsys.readouterr().err) == (0, "")


def test_main_replaces_characters_the_terminal_lacks(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    monkeypatch.setattr(entry_point, "app", lambda: print("0.1 – 0.9", flush=True))
    entry_point.main()
    assert written.getvalue() == b"0.1 ? 0.9\n"
