import os
import subprocess

import pytest

from bagwise.cli import entry
from command_line import bagwise, command, refused


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


def test_a_terminal_without_our_letters_gets_no_traceback(tmp_path):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii:strict"}
    shown = command("data", "describe", "needles")  # a table, whose lines and names are not ASCII
    result = subprocess.run(shown, env=environment, capture_output=True, check=False, timeout=120)
    assert result.returncode == 0, result.stderr
    assert b"?" in result.stdout
