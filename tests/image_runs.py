"""Two runs on the same images, whose file names contain markup, formulas, spaces and right-to-left marks."""

import numpy as np
from PIL import Image

from bagwise.runs.execution import execute_run

SIZE, COLUMNS, ROWS = 16, 6, 4
ODD_NAMES = ("<img src=x onerror=alert(1)>", "=cmd|' &amp;", "名前 ünï\u202e", "plain", "a b", "100%2e")


def make_images(folder):
    """Write images of two classes; each image of the class "dark" has one dark tile."""
    rng = np.random.default_rng(0)
    for label in ("dark", "light"):
        (folder / label).mkdir()
        for number, name in enumerate([*ODD_NAMES, *map(str, range(6))]):
            pixels = rng.integers(90, 200, (ROWS * SIZE, COLUMNS * SIZE, 3), dtype=np.uint8)
            if label == "dark":
                row, column = divmod(number % (ROWS * COLUMNS), COLUMNS)
                pixels[row * SIZE : (row + 1) * SIZE, column * SIZE : (column + 1) * SIZE] //= 4
            Image.fromarray(pixels).save(folder / label / f"{name}.png")
    return folder


def make_runs(folder, images):
    """Train an attention model and an instance-level max model on the same images."""
    data = {"data": str(images), "options": {"size": SIZE}, "test": 0.5, "split_seed": 1}
    shared = {"epochs": 3, "random_state": 1, "batch_size": 4, "learning_rate": 1e-3, "engine": "torch"}
    models = {"attention": {"pooling": "attention"}, "instances": {"pooling": "max", "level": "instance"}}
    for name, model in models.items():
        execute_run(folder / name, {"data": data, "parameters": {**shared, **model}})
    return folder
