import subprocess
import sys
from importlib.metadata import version

import pytest
import typer

from bagwise.cli.application import app
from command_line import bagwise, bagwise_process, read_error

COMMANDS = ["check", "demo", "doctor", "evaluate", "predict", "report", "train"]


def test_help_lists_commands_and_version_is_of_the_package():
    shown = bagwise("--help").stdout
    assert all(command in shown for command in COMMANDS)
    assert bagwise("--version").stdout == f"bagwise {version('bagwise')}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_every_command_has_an_example(command):
    result = bagwise(command, "--help")
    assert result.returncode == 0
    assert f"Example: bagwise {command}" in result.stdout
    assert "--quiet" in result.stdout
    assert "--json" in result.stdout


def test_help_imports_neither_torch_nor_other_heavy_packages():
    """What makes it answer at once, checked without a clock."""
    code = (
        "import sys; sys.argv = ['bagwise', '--help']\n"
        "from bagwise.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print(sorted({'torch', 'numpy', 'sklearn', 'matplotlib', 'scipy'} & sys.modules.keys()))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip().endswith("[]")


def test_unknown_commands_and_flags_suggest_the_nearest_name():
    assert "train" in read_error(bagwise_process("trian"))
    assert "--epochs" in read_error(bagwise("train", "digits", "run", "--epoch", "3"))
    assert "Missing argument" in read_error(bagwise("train", "digits"))


def list_commands(group, name="bagwise"):
    for word, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from list_commands(command, f"{name} {word}")
        else:
            yield f"{name} {word}", command


def test_help_of_every_option_has_a_meaning_and_a_default():
    """Flags are off by default, and typer prints the defaults that are values."""
    for name, command in list_commands(typer.main.get_command(app)):
        for option in command.params:
            text = getattr(option, "help", "") or ""
            assert len(text) > 8, (name, option.name)
            flag = getattr(option, "is_flag", False)
            if not option.required and not flag and option.default in (None, ""):
                assert "[default: " in text, (name, option.name)
