"""Commands that send themselves a signal at a file operation, so that no test has to hit a moment by the clock.

Python reports file operations to audit hooks before they happen (``sys.addaudithook``). ``signal_self`` counts those of
one kind whose path matches a pattern, and sends a signal to its own process at the given count, or a number of Python
calls later. SIGSTOP keeps a command alive at this point until the test has done what it wants to do; SIGKILL ends it.
"""

import fnmatch
import json
import os
import signal
import sys
from pathlib import Path

WORKER_SIGNAL = "BAGWISE_TEST_WORKER_SIGNAL"
PATH_ARGUMENTS = {"open": 0, "os.rename": 1}  # which argument of the operation is the path; of a rename, the new name


def signal_self(operation, pattern, count=1, n_calls=0, number=signal.SIGSTOP, once=None):
    """Send a signal to this process at a file operation.

    operation : "open" or "os.rename"
    pattern : of the path, such as "*/checkpoint.safetensors"
    count : 1 for the first operation that matches
    n_calls : Python and C calls between the operation and the signal
    once : file that the first of several processes creates; the others go on
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
    """Run the command line; its worker processes read the description of the signal when they start."""
    from bagwise.cli import main

    os.environ[WORKER_SIGNAL] = sys.argv.pop()
    os.environ["PYTHONPATH"] = os.pathsep.join(
        [str(Path(__file__).parent / "worker_startup"), os.environ["PYTHONPATH"]]
    )
    main()
