"""A process that has imported torch and bagwise, and forks a new process for every command, so that it starts quickly.

As a script, it reads one JSON request per line. {"call": "module:function", "arguments": …, "folder": …, "output": …}
forks a process that calls the function with this command line, and prints its pid. {"wait": pid, "block": …} prints the
exit code of a process in the convention of ``subprocess``, "stopped" once if the process was stopped, or null while it
is running.
"""

import atexit
import gc
import importlib
import json
import os
import sys
import threading
import traceback

MODULES = (
    "bagwise.cli",
    "bagwise.report",
    "bagwise.report.comparison_page",
    "bagwise.paper.reproduction_page",
    "torch._dynamo",
)


def run_child(request):
    """Run the call in the new process; this function does not return."""
    os.setsid()  # a separate process group, so that a test can send a signal to the command and its workers
    output = os.open(request["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    os.chdir(request["folder"])
    sys.argv = request["arguments"]
    module, function = request["call"].split(":")
    code = 0
    try:
        getattr(importlib.import_module(module), function)()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
        code = 1
    threading._shutdown()  # joins threads and worker processes, as at a normal exit
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # skips the finalisation of modules, which takes a second after a fork


def answer(request):
    if "call" in request:
        return os.fork() or run_child(request)
    pid, status = os.waitpid(request["wait"], os.WUNTRACED | (0 if request["block"] else os.WNOHANG))
    if not pid:
        return None
    return "stopped" if os.WIFSTOPPED(status) else os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    import torch

    for name in MODULES:
        importlib.import_module(name)
    from faults.tiny_recipe import add_to_recipes

    add_to_recipes()
    torch.set_num_threads(1)
    gc.freeze()  # otherwise garbage collection in a forked process would copy all memory pages
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
