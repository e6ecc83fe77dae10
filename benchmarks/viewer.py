"""Viewer with a bag of 100,000 tiles: time to first display, time between frames, and memory of the server.

    python benchmarks/viewer.py        needs chromium and playwright

first drawn    time from the load event of the page until the map of the bag is painted; the data of the run are
               already open, as for a user who comes from the list of bags; median of five loads
frames         time between two frames while the map is dragged and zoomed for a few seconds
server         anonymous memory (RssAnon) before the first page, and after all layers were requested
"""

import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from bagwise.bags import Bags, save_bags
from bagwise.runs import execute_run
from writing_results import conditions, write

TILES, COLUMNS, SIDE, WIDTH = 100_000, 400, 256, 64
LOADS = 5
LAYERS = ("weight", "contribution", "probability")
FRAMES = """async () => {
    const times = []; let last = performance.now(); let going = true;
    const step = (now) => { times.push(now - last); last = now; if (going) requestAnimationFrame(step); };
    requestAnimationFrame(step);
    await new Promise((done) => setTimeout(done, 4000)); going = false;
    return times.slice(2);
}"""


def bag(tiles, columns, label, draws):
    """Return the features and positions of tiles on a grid; the label shifts the features near the centre."""
    places = np.stack([np.arange(tiles) % columns, np.arange(tiles) // columns], axis=1)
    features = draws.normal(size=(tiles, WIDTH)).astype(np.float32)
    distances = np.hypot(*(places - places.mean(axis=0)).T)
    features[:, :8] += 2 * label * np.exp(-((distances / (columns / 10)) ** 2))[:, None]
    return features, places * SIDE


def make_run(folder):
    """Train a run whose first test bag is the large one, and return its folder."""
    draws = np.random.default_rng(0)
    made = [
        bag(TILES if number == 0 else 400, COLUMNS if number == 0 else 20, number % 2, draws) for number in range(30)
    ]
    bags = Bags.from_list(
        [features for features, _ in made],
        labels=np.arange(30) % 2,
        names=[f"bag-{number}" for number in range(30)],
        positions=np.concatenate([places for _, places in made]),
        tile_sizes=np.full(30, SIDE),
    )
    save_bags(bags[1:25], folder / "training")
    save_bags(bags[[0, *range(25, 30)]], folder / "test")
    data = {"data": str(folder / "training"), "options": {}, "test": str(folder / "test"), "split_seed": 0}
    execute_run(folder / "run", {"data": data, "parameters": {"epochs": 3, "random_state": 0}})
    return folder / "run"


def held(process):
    """Return the anonymous memory of a process in megabytes."""
    status = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
    return int(re.search(r"RssAnon:\s+(\d+) kB", status)[1]) / 1024


def first_drawn(page, address):
    page.goto("about:blank")
    page.goto(f"{address}#bag=bag-0")
    page.wait_for_selector("#views[data-drawn]")
    return page.evaluate(
        """() => performance.getEntriesByName('bag drawn')[0].startTime
            - performance.getEntriesByType('navigation')[0].loadEventEnd"""
    )


def frames_while_moving(page):
    box = page.locator(".pane").first.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.evaluate(f"window.frames_ = ({FRAMES})()")
    for turn in range(12):
        page.mouse.move(x, y)
        page.mouse.wheel(0, -300 if turn % 4 < 2 else 300)
        page.mouse.down()
        for step in range(10):
            page.mouse.move(x + 8 * step, y + 5 * step)
        page.mouse.up()
    return np.array(page.evaluate("window.frames_"))


def measure(run):
    arguments = [sys.executable, "-m", "bagwise", "view", str(run), "--no-browser", "--json"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as server, sync_playwright() as driver:
        address = re.search(r"http://[^\"]+", server.stdout.readline())[0]
        urllib.request.urlopen(f"{address}api/runs/0/bags/0").read()
        before = held(server)
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        drawn = [first_drawn(page, address) for _ in range(LOADS)]
        frames = frames_while_moving(page)
        for layer in LAYERS:
            urllib.request.urlopen(f"{address}api/runs/0/bags/0/layers/{layer}/1/raw").read()
        after = held(server)
        browser.close()
        server.terminate()
    return {
        "first drawn, median": f"{np.median(drawn):.0f} ms",
        "first drawn, slowest of five": f"{max(drawn):.0f} ms",
        "between frames, median": f"{np.median(frames):.0f} ms",
        "between frames, 95 % below": f"{np.quantile(frames, 0.95):.0f} ms",
        "server before the first page": f"{before:.0f} MB",
        "server after every layer": f"{after:.0f} MB",
    }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        found = measure(make_run(Path(folder)))
    text = f"First view of 100,000 tiles, and panning and zooming, in Chromium at 1440 × 900.\n\n{conditions()}"
    write("viewer", "Viewer performance", text, [{"what": what, "measured": value} for what, value in found.items()])
