"""Compare methods on a csv table with one row per instance: python examples/your_table.py"""

import csv
from pathlib import Path

import numpy as np

from bagwise.evaluation.comparison import compare_methods, make_plan

rng = np.random.default_rng(0)
with Path("molecules.csv").open("w", newline="") as file:
    table = csv.writer(file)
    table.writerow(["molecule", "active", "length", "width", "charge"])
    for number in range(60):
        shapes = rng.normal(size=(rng.integers(3, 9), 3))
        shapes[0] += 2 * (number % 2)  # the first shape of an active molecule is shifted
        table.writerows([f"molecule {number}", number % 2, *shape.round(4)] for shape in shapes)

methods = {"extra trees": {}, "MI-SVM": {"C": 10.0}, "minimax kernel": {}}
columns = {"bag": "molecule", "label": "active"}
comparison = compare_methods("comparison", make_plan("molecules.csv", methods, options=columns, folds=5))
for name, metrics in comparison.scores.items():
    errors = metrics["accuracy"].errors
    print(f"{name}: accuracy {errors.mean:.3f} ± {errors.corrected_error:.3f} (corrected error over folds)")
