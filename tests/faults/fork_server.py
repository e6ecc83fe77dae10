"""A process that has imported everything and starts others of its own kind on request: torch is imported once.

As a script it reads a request a line: {"call": "module:function", "words": …, "folder": …, "said": …} forks a process
that calls the function with these words as its command line; {"wait": pid, "now": …} tells how a process ended.
"""

import importlib
import json
import os
import sys

NEEDED = (
    "bagwise.cli",
    "bagwise.report",
    "bagwise.report.comparison_page",
    "bagwise.paper.reproduction_page",
    "torch._dynamo",
)


def become(request):
    """What the new process does; never returns."""
    os.setsid()  # a group of its own, which can be interrupted as a terminal does
    said = os.open(request["said"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(said, 1)
    os.dup2(said, 2)
    os.chdir(request["folder"])
    sys.argv = request["words"]
    module, function = request["call"].split(":")
    getattr(importlib.import_module(module), function)()
    sys.exit()  # through the loop below, as any process ends: with whatever is to be done on the way out


def answer(request):
    if "call" in request:
        return os.fork() or become(request)
    pid, status = os.waitpid(request["wait"], os.WNOHANG if request["now"] else 0)
    return os.waitstatus_to_exitcode(status) if pid else None


if __name__ == "__main__":
    import torch

    for name in NEEDED:
        importlib.import_module(name)
    from faults.tiny_experiment import add_to_recipes

    add_to_recipes()
    torch.set_num_threads(1)
    print("ready", flush=True)
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
