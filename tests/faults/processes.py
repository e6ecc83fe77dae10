"""Processes of the command line that tests can monitor, stop, continue and kill."""

import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import safetensors

HERE = Path(__file__).parent
DEADLINE = 240  # seconds until a test stops waiting and fails
needs_proc = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="workers are found through /proc")


class ForkServer:
    """Starts processes quickly (see ``fork_server.py``)."""

    def __init__(self, folder):
        self.folder, self.children = folder, []
        environment = {**os.environ, "PYTHONPATH": str(HERE.parent), "OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, str(HERE / "fork_server.py")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        assert self.process.stdout.readline() == "ready\n"

    def request(self, **request):
        print(json.dumps(request), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def start(self, arguments, folder, call="bagwise.cli:main"):
        """Start a command in a folder."""
        output = self.folder / f"output-{len(self.children)}"
        arguments = ["bagwise", *map(str, arguments)]
        pid = self.request(call=call, arguments=arguments, folder=str(folder), output=str(output))
        self.children.append(Child(self, pid, output))
        return self.children[-1]

    def start_with_signal(self, arguments, folder, in_worker=False, **trigger):
        """Start a command that sends a signal to itself, or to one of its workers (see ``interruption.py``)."""
        function = "run_with_signal_in_worker" if in_worker else "run_with_signal"
        return self.start([*arguments, json.dumps(trigger)], folder, call=f"faults.interruption:{function}")

    def start_and_stop(self, arguments, folder, **trigger):
        """Start a command and wait until it has stopped itself with SIGSTOP; ``Child.resume`` continues it."""
        child = self.start_with_signal(arguments, folder, **trigger)
        assert child.wait() == "stopped", child.output.read_text()
        return child

    def run(self, arguments, folder):
        """Run a command that must succeed."""
        child = self.start(arguments, folder)
        assert child.wait() == 0, child.output.read_text()

    def close(self):
        for child in self.children:
            child.kill()
        self.process.communicate()


class Child:
    """A process of the fork server; exit codes are those of ``subprocess``."""

    def __init__(self, server, pid, output):
        self.server, self.pid, self.output, self.code = server, pid, output, None

    def poll(self):
        return self._request(block=False)

    def wait(self):
        """Wait until the process ends or stops; return its exit code or "stopped"."""
        return self._request(block=True)

    def _request(self, block):
        if self.code is None:
            code = self.server.request(wait=self.pid, block=block)
            if code == "stopped":
                return code
            self.code = code
        return self.code

    def send(self, number):
        os.kill(self.pid, number)

    def resume(self):
        """Continue the stopped process."""
        self.send(signal.SIGCONT)

    def kill(self):
        """Kill the process and its workers."""
        if self.code is None and self.poll() in (None, "stopped"):
            os.killpg(self.pid, signal.SIGKILL)
            while self.wait() == "stopped":
                pass

    def wait_until(self, condition):
        """Wait until a condition is true; fail if the process ends before that."""
        end = time.monotonic() + DEADLINE
        while not condition():
            assert self.poll() is None, f"the process ended first: {self.output.read_text()}"
            assert time.monotonic() < end, f"the condition was not true within {DEADLINE} seconds"
            time.sleep(0.002)


def read_epoch(checkpoint):
    """Return the number of epochs in a checkpoint, after checking its SHA-256; 0 if there is no checkpoint."""
    if not checkpoint.exists():
        return 0
    with safetensors.safe_open(checkpoint, framework="np") as file:
        metadata = file.metadata()
        digest = hashlib.sha256(metadata["state"].encode())
        for name in sorted(file.keys()):
            digest.update(name.encode() + file.get_tensor(name).tobytes())
    assert digest.hexdigest() == metadata["sha256"], "the checkpoint is damaged"
    return json.loads(metadata["state"])["epoch"]


def find_workers(pid):
    """Return the process ids of the workers of a process."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children if b"LokyProcess" in _read_command_line(child)]


def is_running(pid):
    """Return whether a process is running; the command line of a zombie is empty."""
    return _read_command_line(pid) != b""


def _read_command_line(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def find_leftovers(folder):
    """Return temporary files and locks; a folder may be removed during the search."""
    paths = [Path(parent, name) for parent, folders, files in os.walk(folder) for name in (*folders, *files)]
    return [path for path in paths if path.name.startswith(".") or path.suffix == ".lock"]
