"""Commands on a real small disk: a tmpfs in a mount namespace of its own, which nobody else sees and which ends so.

As a script, in such a namespace: every command runs once with room enough, then with a share of what it took, then on a
disk that cannot be written; what it said and left behind is printed as JSON.
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
MOUNTED = f'mount -t tmpfs -o size={SIZE} none "$1" && shift && exec "$@"'
REPLACING = ("import", "report", "explain", "list", "predict")  # what stood there stays, or is replaced as a whole


def in_namespace(disk, *command):
    """Run a command that finds an empty small disk at a path."""
    words = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", MOUNTED, "sh", disk, *command]
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, timeout=1700)


def why_not(folder):
    """Why there can be no small disk here, or nothing."""
    if shutil.which("unshare") is None:
        return "there is no unshare here"
    return in_namespace(folder, "true").stderr.strip()


def commands(material, disk):
    """What is typed, by the name of the command; every output lies on the disk."""
    bags, run = material / "bags", material / "run"
    network = ["--epochs", "2", "--batch-size", "4", "--engine", "torch", "--seed", "1"]
    tables = ["--out", disk / "bags.csv", "--weights", disk / "weights.csv", "--groups", disk / "groups.csv"]
    labels = ["--labels", material / "labels.csv"]
    return {
        "train": ["train", bags, disk / "run", *network],
        "compare": ["compare", bags, "--methods", "attention,MI-Kernel", "--folds", "2", "--out", disk / "c", *network],
        "reproduce": ["reproduce", "tiny", "--repeats", "1", "--out", disk / "paper"],
        "import": ["import", material / "clam" / "features", *labels, "--out", disk / "bags", "--overwrite"],
        "tile": ["tile", material / "slides", "--out", disk / "cut", "--size", "32", "--mpp", "1.0"],
        "extract": ["extract", disk / "tiles", "--out", disk / "bags", "--batch-size", "4"],
        "report": ["report", run, "--out", disk / "report.html"],
        "explain": ["explain", run, "--bag", "bag-4", "--out", disk / "why"],
        "list": ["explain", run, "--out", disk / "list.csv"],
        "predict": ["predict", run, bags, *tables],
        "fetch": ["data", "fetch", "musk1", "--from", material / "musk"],
    }


def give(arguments):
    """Run a command line in this process; its exit code and what it said to standard error."""
    from bagwise.cli.entry_point import main

    said = io.StringIO()
    sys.argv = ["bagwise", *map(str, arguments)]
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
        try:
            main()
        except SystemExit as ended:
            return ended.code or 0, said.getvalue()
    return 0, said.getvalue()


class Bench:
    """The disk, and one command on it again and again."""

    def __init__(self, material, disk, name):
        self.material, self.disk, self.name = material, disk, name
        self.words = commands(material, disk)[name]

    def report(self, shares):
        """A record of every attempt."""
        self.clear()
        before = self.free()
        code, said = give(self.words)
        assert code == 0, (self.name, said)
        self.whole, self.taken = self.contents(), before - self.free()
        return [*(self.attempt(share) for share in shares), self.unwritable()]

    def attempt(self, share):
        """With so much of the room that it takes; then with room again."""
        if self.name not in REPLACING:
            self.clear()
        with (self.disk / "ballast").open("wb") as stream:
            stream.write(bytes(self.free() - int(self.taken * share)))
        record = self.tried()
        (self.disk / "ballast").unlink()
        again, _ = give([*self.words, *(["--resume"] if self.name == "train" and self.begun("run") else [])])
        return {**record, "share": share, "again": again, "missing": sorted(self.whole.keys() - self.contents().keys())}

    def unwritable(self):
        """On a disk that is mounted to be read alone."""
        if self.name not in REPLACING:
            self.clear()
        self.mount("ro")
        record = self.tried()
        self.mount("rw")
        return {**record, "share": None}

    def tried(self):
        before = self.contents()
        code, said = give(self.words)
        after = self.contents()
        return {
            "command": self.name,
            "code": code,
            "said": said,
            "changed": [path for path, content in before.items() if after.get(path) != content],
            "strange": sorted(after.keys() - before.keys() - self.whole.keys()),
            "hollow": self.hollow(),
        }

    def hollow(self):
        """Folders without anything; those of features are left, because other processes may be about to use them."""
        folders = [path for path in self.disk.rglob("*") if path.is_dir() and not any(path.iterdir())]
        return [str(path) for path in folders if not path.name.startswith("features-")]

    def begun(self, folder):
        return (self.disk / folder / "parameters.json").exists()

    def clear(self):
        for path in self.disk.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        if self.name == "extract":
            shutil.copytree(self.material / "tiles", self.disk / "tiles")

    def free(self):
        found = os.statvfs(self.disk)
        return found.f_bavail * found.f_frsize

    def mount(self, how):
        subprocess.run(["mount", "-o", f"remount,{how}", self.disk], check=True)

    def contents(self):
        """Every file of the disk, hidden ones too, and the hash of what it holds."""
        return {
            path.relative_to(self.disk).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in self.disk.rglob("*")
            if path.is_file()
        }


def add_tiny_recipe():
    """An experiment that takes a second, beside those of the paper."""
    from bagwise.evaluation.comparison.plan import make_plan
    from bagwise.paper.recipes import RECIPES, Recipe, Setting

    def tiny(repeats, quick):
        plan = make_plan("needles", {"MI-Kernel": {"calibration": 0}, "naive": {}}, options={"n_bags": 20}, folds=2)
        return [Setting("one", "table1", "musk1", [plan])]

    RECIPES["tiny"] = Recipe("tiny", "accuracy", False, tiny)


if __name__ == "__main__":
    place, small, shares, *names = sys.argv[1:]
    os.environ["BAGWISE_DATA"] = str(Path(small) / "home")
    add_tiny_recipe()
    parts = [float(share) for share in shares.split(",")]
    records = [record for name in names for record in Bench(Path(place), Path(small), name).report(parts)]
    json.dump(records, sys.stdout)
