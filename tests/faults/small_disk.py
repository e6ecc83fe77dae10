"""Commands on a small disk: a tmpfs in a separate mount namespace, which is invisible to other processes.

As a script, in such a namespace, it runs every command with enough space, then with fractions of the space that the
command needed, then on a read-only disk. Messages and remaining files are printed as JSON.
"""

import contextlib
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

SIZE = 16 << 20
MOUNT = f'mount -t tmpfs -o size={SIZE} none "$1" && shift && exec "$@"'
REPLACING = ("import", "report", "explain", "list", "predict")  # commands that replace the output of an earlier run


def in_namespace(disk, *command):
    """Run a command with an empty small disk mounted at a path."""
    arguments = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", MOUNT, "sh", disk, *command]
    return subprocess.run([str(argument) for argument in arguments], capture_output=True, text=True, check=False)


def find_obstacle(folder):
    """Return the reason why a small disk cannot be mounted, or an empty string."""
    if shutil.which("unshare") is None:
        return "unshare is not installed"
    return in_namespace(folder, "true").stderr.strip()


def make_commands(inputs, disk):
    """Return the arguments of each command by name; every output is on the disk."""
    bags, run = inputs / "bags", inputs / "run"
    network = ["--epochs", "2", "--batch-size", "4", "--engine", "torch", "--seed", "1"]
    tables = ["--out", disk / "bags.csv", "--weights", disk / "weights.csv", "--groups", disk / "groups.csv"]
    labels = ["--labels", inputs / "labels.csv"]
    return {
        "train": ["train", bags, disk / "run", *network],
        "compare": ["compare", bags, "--methods", "attention,MI-Kernel", "--folds", "2", "--out", disk / "c", *network],
        "reproduce": ["reproduce", "tiny", "--repeats", "1", "--out", disk / "paper"],
        "import": ["import", inputs / "clam" / "features", *labels, "--out", disk / "bags", "--overwrite"],
        "tile": ["tile", inputs / "slides", "--out", disk / "cut", "--size", "32", "--mpp", "1.0"],
        "extract": ["extract", disk / "tiles", "--out", disk / "bags", "--batch-size", "4"],
        "report": ["report", run, "--out", disk / "report.html"],
        "explain": ["explain", run, "--bag", "bag-4", "--out", disk / "explanation"],
        "list": ["explain", run, "--out", disk / "list.csv"],
        "predict": ["predict", run, bags, *tables],
        "fetch": ["data", "fetch", "musk1", "--from", inputs / "musk"],
    }


def run_command(arguments):
    """Run a command in this process; return its exit code and its standard error."""
    from bagwise.cli.entry_point import main

    error = io.StringIO()
    sys.argv = ["bagwise", *map(str, arguments)]
    with contextlib.redirect_stderr(error), contextlib.redirect_stdout(io.StringIO()):
        try:
            main()
        except SystemExit as end:
            return end.code or 0, error.getvalue()
    return 0, error.getvalue()


class DiskTrial:
    """One command, run repeatedly with different amounts of free space."""

    def __init__(self, inputs, disk, name):
        self.inputs, self.disk, self.name = inputs, disk, name
        self.arguments = make_commands(inputs, disk)[name]

    def run_all(self, fractions):
        """Run with these fractions of the space that the command needs, and on a read-only disk; return the records."""
        self.clear()
        before = self.measure_free_space()
        code, error = run_command(self.arguments)
        assert code == 0, (self.name, error)
        self.complete, self.taken = self.hash_files(), before - self.measure_free_space()
        return [*(self.run_with_fraction(fraction) for fraction in fractions), self.run_read_only()]

    def run_with_fraction(self, fraction):
        """Run with this fraction of the space, then again with enough space."""
        if self.name not in REPLACING:
            self.clear()
        with (self.disk / "ballast").open("wb") as stream:
            stream.write(bytes(self.measure_free_space() - int(self.taken * fraction)))
        record = self.run_once()
        (self.disk / "ballast").unlink()
        resume = self.name == "train" and (self.disk / "run" / "parameters.json").exists()
        code, _ = run_command([*self.arguments, *(["--resume"] if resume else [])])
        missing = sorted(self.complete.keys() - self.hash_files().keys())
        return {**record, "fraction": fraction, "second_code": code, "missing": missing}

    def run_read_only(self):
        if self.name not in REPLACING:
            self.clear()
        self.remount("ro")
        record = self.run_once()
        self.remount("rw")
        return {**record, "fraction": None}

    def run_once(self):
        before = self.hash_files()
        code, error = run_command(self.arguments)
        after = self.hash_files()
        return {
            "command": self.name,
            "code": code,
            "error": error,
            "changed": [path for path, content in before.items() if after.get(path) != content],
            "unexpected": sorted(after.keys() - before.keys() - self.complete.keys()),
            "empty_folders": self.find_empty_folders(),
        }

    def find_empty_folders(self):
        """Return empty folders, except those of features, which other processes may be about to use."""
        folders = [path for path in self.disk.rglob("*") if path.is_dir() and not any(path.iterdir())]
        return [str(path) for path in folders if not path.name.startswith("features-")]

    def clear(self):
        for path in self.disk.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        if self.name == "extract":
            shutil.copytree(self.inputs / "tiles", self.disk / "tiles")

    def measure_free_space(self):
        status = os.statvfs(self.disk)
        return status.f_bavail * status.f_frsize

    def remount(self, mode):
        subprocess.run(["mount", "-o", f"remount,{mode}", self.disk], check=True)

    def hash_files(self):
        """Return the SHA-256 of every file on the disk, including hidden files."""
        return {
            path.relative_to(self.disk).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in self.disk.rglob("*")
            if path.is_file()
        }


def add_tiny_recipe():
    """Register a recipe that takes a second."""
    from bagwise.evaluation.comparison.plan import make_plan
    from bagwise.paper.experiments import Recipe, Setting
    from bagwise.paper.recipes import RECIPES

    def tiny(repeats, quick):
        plan = make_plan("needles", {"MI-Kernel": {"calibration": False}, "naive": {}}, options={"n_bags": 20}, folds=2)
        return [Setting("one", "table1", "musk1", [plan])]

    RECIPES["tiny"] = Recipe("tiny", "accuracy", False, tiny)


if __name__ == "__main__":
    inputs, disk, listed_fractions, *names = sys.argv[1:]
    os.environ["BAGWISE_DATA"] = str(Path(disk) / "home")
    add_tiny_recipe()
    fractions = [float(fraction) for fraction in listed_fractions.split(",")]
    records = [record for name in names for record in DiskTrial(Path(inputs), Path(disk), name).run_all(fractions)]
    json.dump(records, sys.stdout)
