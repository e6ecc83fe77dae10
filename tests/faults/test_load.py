"""Load: predictions of a stream of 100,000 small bags in constant memory; the viewer under 50 concurrent clients."""

import json
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import httpx
import numpy as np
import pytest
from PIL import Image

from bagwise.bags.folder import BagWriter
from bagwise.runs.execution import execute_run
from command_line import command
from faults.measuring import fits_into_memory, needs_linux

RESULT = 200  # bytes that a prediction may keep of a bag: its probabilities, its weights, and where it begins and ends
SLACK = 8_000_000  # of the allocator, whatever the number of bags
CLIENTS = 50
SIDE, SIZE = 512, 64  # of a picture and of the tiles that are its instances
GROWTH = 64_000_000  # bytes of the server, once every address was asked for


@pytest.fixture(scope="module")
def trained(request, tmp_path_factory):
    """A run, and so many small bags without names or labels, in folders."""
    folder = tmp_path_factory.mktemp("stream")
    draws = np.random.default_rng(0)
    for name, count in {"few": 40, "many": request.param}.items():
        with BagWriter(folder / name) as writer:
            for number in range(count):
                writer.add(draws.normal(size=(1 + number % 5, 16)).astype(np.float32), label=number % 2)
    data = {"data": str(folder / "few"), "options": {}, "test": None}
    execute_run(folder / "run", {"data": data, "parameters": {"epochs": 1, "engine": "torch", "random_state": 0}})
    return folder, request.param


@needs_linux
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("trained", [5_000, pytest.param(100_000, marks=pytest.mark.full)], indirect=True)
@pytest.mark.parametrize("way", ["library", "command"])
def test_predict_many_small_bags_in_memory_of_the_result(trained, way):
    folder, count = trained
    assert fits_into_memory(folder / "run", folder / "few", folder / "many", SLACK + RESULT * count, way)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run on pictures that are large enough to be shown in many tiles."""
    folder = tmp_path_factory.mktemp("pictures")
    draws = np.random.default_rng(0)
    for label, number in product(("dark", "light"), range(2)):
        (folder / label).mkdir(exist_ok=True)
        pixels = draws.integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / label / f"{label}-{number}.png")
    data = {"data": str(folder), "options": {"size": SIZE}, "test": 0.5, "split_seed": 1}
    parameters = {"epochs": 1, "engine": "torch", "random_state": 0}
    return execute_run(tmp_path_factory.mktemp("shown") / "run", {"data": data, "parameters": parameters})


@pytest.fixture(scope="module")
def viewer(run):
    """The viewer as a user starts it; its address and its process."""
    words = command("view", run.folder, "--no-browser", "--json")
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield json.loads(process.stdout.readline())["address"], process
        finally:
            process.terminate()
            process.communicate()


def addresses(n_bags):
    """Every tile of every picture, and every overlay."""
    for bag in range(n_bags):
        place = f"api/runs/0/bags/{bag}"
        yield from (place, f"{place}/positions")
        for layer, number, scale in product(("weight", "contribution", "probability"), range(2), ("paper", "rank")):
            yield f"{place}/layers/{layer}/{number}/{scale}"
        for level in range(10):
            across = -(-SIDE // (2 ** (9 - level) * 256))
            yield from (f"{place}/tiles/{level}/{column}/{row}" for column, row in product(range(across), repeat=2))


def request_pages(address, paths, n_requests, seed):
    """Request paths in a random order; returns those that were not answered."""
    order, failed = np.random.default_rng(seed), []
    with httpx.Client(base_url=address, timeout=240) as client:
        for place in order.integers(len(paths), size=n_requests):
            answer = client.get(paths[place])
            if answer.status_code != 200 or not answer.content:
                failed.append((paths[place], answer.status_code))
    return failed


def memory_of(process):
    found = re.search(r"RssAnon:\s+(\d+) kB", Path(f"/proc/{process.pid}/status").read_text(encoding="ascii"))
    return int(found[1]) * 1024


@needs_linux
@pytest.mark.parametrize("n_requests", [20, pytest.param(400, marks=pytest.mark.full)])
def test_viewer_answers_fifty_clients_at_once_in_bounded_memory(viewer, run, n_requests):
    address, process = viewer
    paths = list(addresses(len(run.predictions)))
    with httpx.Client(base_url=address, timeout=240) as client:
        assert {client.get(path).status_code for path in paths} == {200}
    before = memory_of(process)
    with ThreadPoolExecutor(CLIENTS) as clients:
        pending = [clients.submit(request_pages, address, paths, n_requests, seed) for seed in range(CLIENTS)]
        assert [failure for each in pending for failure in each.result()] == []
    assert memory_of(process) - before < GROWTH
    assert process.poll() is None
