"""Real processes of the command line, watched until something happens, and then stopped or killed."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import safetensors

HERE = Path(__file__).parent
LIMIT = 120  # seconds


class Nursery:
    """Starts processes quickly (see ``nursery.py``)."""

    def __init__(self, folder):
        self.folder, self.born = folder, []
        environment = {**os.environ, "PYTHONPATH": str(HERE.parent), "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "nursery.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        assert self.process.stdout.readline() == "ready\n"

    def ask(self, **request):
        print(json.dumps(request), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def start(self, words, folder, call="bagwise.cli:main"):
        """Start a command in a folder."""
        said = self.folder / f"said-{len(self.born)}"
        words = ["bagwise", *map(str, words)]
        self.born.append(Child(self, self.ask(call=call, words=words, folder=str(folder), said=str(said)), said))
        return self.born[-1]

    def run(self, words, folder):
        """Run a command to its good end."""
        child = self.start(words, folder)
        assert child.wait() == 0, child.said.read_text()

    def close(self):
        for child in self.born:
            child.kill()
        self.process.communicate()


class Child:
    """A process of the nursery; exit codes are those of ``subprocess``."""

    def __init__(self, nursery, pid, said):
        self.nursery, self.pid, self.said, self.code = nursery, pid, said, None

    def poll(self):
        if self.code is None:
            self.code = self.nursery.ask(wait=self.pid, now=True)
        return self.code

    def wait(self):
        if self.code is None:
            self.code = self.nursery.ask(wait=self.pid, now=False)
        return self.code

    def send(self, number):
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self):
        """The process, and whatever it started."""
        if self.poll() is None:
            os.killpg(self.pid, signal.SIGKILL)
            self.wait()

    def wait_until(self, happened):
        """Wait for something that the process does."""
        end = time.monotonic() + LIMIT
        while not happened():
            assert self.poll() is None, f"it ended before: {self.said.read_text()}"
            assert time.monotonic() < end, "nothing happened"
            time.sleep(0.002)


def kill_in_work(child, state, moment):
    """Kill a process a while after it has changed what ``state`` sees."""
    before = state()
    child.wait_until(lambda: state() != before)
    time.sleep(moment)
    child.kill()
    assert child.code == -signal.SIGKILL, "it ended before it was killed"


def epochs_of(checkpoint):
    """The epochs that a checkpoint holds, after its SHA-256 was computed here, by the letter of its description."""
    if not checkpoint.exists():
        return 0
    with safetensors.safe_open(checkpoint, framework="np") as file:
        written = file.metadata()
        digest = hashlib.sha256(written["state"].encode())
        for name in sorted(file.keys()):
            digest.update(name.encode() + file.get_tensor(name).tobytes())
    assert digest.hexdigest() == written["sha256"], "the checkpoint is damaged"
    return json.loads(written["state"])["epoch"]


def workers_of(pid):
    """The worker processes of a process."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children if b"LokyProcess" in _words_of(child)]


def lives(pid):
    """Whether a process runs; what is dead, but not yet fetched, has no words any more."""
    return _words_of(pid) != b""


def _words_of(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def left_behind(folder):
    """Temporary files and locks; a folder may vanish while they are looked for."""
    paths = [Path(place, name) for place, folders, files in os.walk(folder) for name in (*folders, *files)]
    return [path for path in paths if path.name.startswith(".") or path.suffix == ".lock"]
