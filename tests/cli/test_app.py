import subprocess
import sys

import pytest

import bagwise as package
from command_line import bagwise, bagwise_process, refused

COMMANDS = ["check", "demo", "doctor", "evaluate", "predict", "report", "train"]


def test_help_lists_every_command_and_the_version_is_the_packages():
    shown = bagwise("--help").stdout
    assert all(command in shown for command in COMMANDS)
    assert bagwise("--version").stdout == f"bagwise {package.__version__}\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command):
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


def test_unknown_commands_and_flags_get_the_nearest_name():
    assert "train" in refused(bagwise_process("trian"))
    assert "--epochs" in refused(bagwise("train", "digits", "run", "--epoch", "3"))
    assert "Missing argument" in refused(bagwise("train", "digits"))
