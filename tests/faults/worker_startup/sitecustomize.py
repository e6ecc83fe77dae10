"""Imported by Python at startup: installs the signal of a worker process (see ``faults/interruption.py``)."""

import json
import os

from faults.interruption import WORKER_SIGNAL, signal_self

if WORKER_SIGNAL in os.environ:
    signal_self(**json.loads(os.environ[WORKER_SIGNAL]))
