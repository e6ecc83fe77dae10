"""Labels of every kind, with distinct values, for laws that hold for all of them."""

import numpy as np


def make_columns(n_bags, n_labels):
    return np.arange(n_bags * n_labels).reshape(n_bags, n_labels)


def make_unknown(n_bags):
    labels = make_columns(n_bags, 2) - 0.5
    labels[::3, 0] = np.nan
    return labels


def make_survival(n_bags):
    labels = np.empty(n_bags, dtype=[("event", bool), ("time", float)])
    labels["time"], labels["event"] = np.arange(n_bags) + 1.5, np.arange(n_bags) % 3 == 0
    return labels


LABELS = {
    "text": lambda n: {"labels": np.array([f"label {bag}" for bag in range(n)])},
    "numbers": lambda n: {"labels": np.arange(n)},
    "unnamed columns": lambda n: {"labels": make_columns(n, 3)},
    "named columns": lambda n: {"labels": make_unknown(n), "label_names": ("a", "b, c")},
    "boolean columns": lambda n: {"labels": make_columns(n, 2) % 3 < 2, "label_names": ("x", "y")},
    "one column": lambda n: {"labels": make_columns(n, 1) + 0.5, "label_names": ("only",)},
    "survival": lambda n: {"labels": make_survival(n)},
}
