import io
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


def test_an_interruption_outside_training_ends_quietly(monkeypatch, capsys):
    def interrupted():
        raise KeyboardInterrupt

    monkeypatch.setattr(entry, "app", interrupted)
    with pytest.raises(SystemExit) as ended:
        entry.main()
    assert ended.value.code == 130
    assert "interrupted" in capsys.readouterr().err


def test_a_terminal_without_our_letters_gets_question_marks_and_no_traceback(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    monkeypatch.setattr(entry, "app", lambda: print("0.1 – 0.9", flush=True))
    entry.main()
    assert written.getvalue() == b"0.1 ? 0.9\n"
