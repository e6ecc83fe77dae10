"""Commands that send themselves a signal at a file operation, so that tests do not depend on timing.

Python reports file operations to audit hooks before they happen (``sys.addaudithook``). ``signal_self`` counts the
operations of one kind whose path matches a pattern, and sends a signal to its own process at the given count, or a
number of Python calls later. SIGSTOP suspends a command at this point until the test continues it; SIGKILL ends it.
"""

import fnmatch
import json
import os
import signal
import sys
from pathlib import Path

WORKER_SIGNAL = "BAGWISE_TEST_WORKER_SIGNAL"
PATH_ARGUMENTS = {"open": 0, "os.rename": 1}  # index of the path argument; for a rename, of the new path


def signal_self(operation, pattern, count=1, n_calls=0, number=signal.SIGSTOP, once=None):
    """Send a signal to this process at a file operation.

    operation : "open" or "os.rename"
    pattern : pattern of the path, such as "*/checkpoint.safetensors"
    count : number of the matching operation, from 1
    n_calls : number of Python and C calls between the operation and the signal
    number : number of the signal
    once : file that is created by the first of several processes; the others receive no signal
    """
    remaining = [count]

    def observe(event, arguments):
        if event != operation or not remaining[0]:
            return
        path = arguments[PATH_ARGUMENTS[event]]
        if not isinstance(path, str | os.PathLike) or not fnmatch.fnmatch(os.fspath(path), pattern):
            return
        remaining[0] -= 1
        if remaining[0] == 0:
            send_after(n_calls, number, once)

    sys.addaudithook(observe)


def send_after(n_calls, number, once):
    """Send a signal to this process after a number of calls in this thread."""
    remaining = n_calls

    def count_call(frame, event, argument):
        nonlocal remaining
        remaining -= event in ("call", "c_call")
        if remaining <= 0:
            sys.setprofile(None)
            send(number, once)

    if n_calls:
        sys.setprofile(count_call)
    else:
        send(number, once)


def send(number, once):
    if once is not None:
        try:
            Path(once).touch(exist_ok=False)
        except FileExistsError:
            return
    os.kill(os.getpid(), number)


def run_with_signal():
    """Run the command line; the last argument describes the signal as JSON."""
    from bagwise.cli import main

    signal_self(**json.loads(sys.argv.pop()))
    main()


def run_with_signal_in_worker():
    """Run the command line; its worker processes read the description of the signal from the environment."""
    from bagwise.cli import main

    os.environ[WORKER_SIGNAL] = sys.argv.pop()
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(Path(__file__).parent / "worker_startup"), os.environ["PYTHONPATH"]]
    )
    main()
