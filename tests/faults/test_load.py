"""Load tests: predictions of 100,000 small bags, and 50 concurrent clients of the viewer, both in bounded memory."""

import json
import os
import resource
import subprocess
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import httpx
import numpy as np
import pytest
from PIL import Image

from bagwise.bags.folder import BagWriter
from bagwise.runs.execution import execute_run
from command_line import command
from faults.memory_limit import ONE_ARENA, can_predict_within, limit_growth, needs_linux

BYTES_PER_BAG = 200  # outputs, weights and offset of a bag of three instances
ALLOCATOR_SLACK = 8_000_000  # bytes, independent of the number of bags
N_CLIENTS = 50
SIDE, TILE_SIZE = 512, 64  # side of an image and of its instances, in pixels
THREAD_STACK = 1 << 20  # bytes
N_THREADS = 40  # maximum number of threads for requests (anyio's default)
GROWTH = 64_000_000 + N_THREADS * THREAD_STACK  # bytes that the server may allocate after it has served every path


@pytest.fixture(scope="module")
def trained(request, tmp_path_factory):
    """Return a folder with a run, its training bags ("few"), and the given number of small bags ("many")."""
    folder = tmp_path_factory.mktemp("many-bags")
    generator = np.random.default_rng(0)
    for name, count in {"few": 40, "many": request.param}.items():
        with BagWriter(folder / name) as writer:
            for number in range(count):
                writer.add(generator.normal(size=(1 + number % 5, 16)).astype(np.float32), label=number % 2)
    data = {"data": str(folder / "few"), "options": {}, "test": None}
    execute_run(folder / "run", {"data": data, "parameters": {"epochs": 1, "engine": "torch", "random_state": 0}})
    return folder, request.param


@needs_linux
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("trained", [5_000, pytest.param(100_000, marks=pytest.mark.full)], indirect=True)
def test_predict_of_many_small_bags_completes_in_the_memory_of_the_result(trained):
    folder, n_bags = trained
    bound = ALLOCATOR_SLACK + BYTES_PER_BAG * n_bags
    assert can_predict_within(bound, folder / "run", folder / "few", folder / "many", "library", "command")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a run on images that are large enough to be shown in several tiles."""
    folder = tmp_path_factory.mktemp("images")
    generator = np.random.default_rng(0)
    for label, number in product(("dark", "light"), range(2)):
        (folder / label).mkdir(exist_ok=True)
        pixels = generator.integers(0, 256, (SIDE, SIDE, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / label / f"{label}-{number}.png")
    data = {"data": str(folder), "options": {"size": TILE_SIZE}, "test": 0.5, "split_seed": 1}
    parameters = {"epochs": 1, "engine": "torch", "validation": None, "random_state": 0}
    return execute_run(tmp_path_factory.mktemp("run") / "run", {"data": data, "parameters": parameters})


def limit_thread_stack():
    resource.setrlimit(resource.RLIMIT_STACK, (THREAD_STACK, resource.getrlimit(resource.RLIMIT_STACK)[1]))


@pytest.fixture(scope="module")
def viewer(run):
    """Return the address and the process of a viewer."""
    arguments = command("view", run.folder, "--no-browser", "--json")
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    environment = {**os.environ, **ONE_ARENA}
    with subprocess.Popen(arguments, env=environment, preexec_fn=limit_thread_stack, **options) as process:
        try:
            yield json.loads(process.stdout.readline())["address"], process
        finally:
            process.terminate()
            process.communicate()


def list_paths(n_bags):
    """Return the paths of every tile of every image, and of every layer."""
    for bag in range(n_bags):
        prefix = f"api/runs/0/bags/{bag}"
        yield from (prefix, f"{prefix}/positions")
        for layer, number, scale in product(("weight", "contribution", "probability"), range(2), ("paper", "rank")):
            yield f"{prefix}/layers/{layer}/{number}/{scale}"
        for level in range(10):
            n_tiles = -(-SIDE // (2 ** (9 - level) * 256))
            yield from (f"{prefix}/tiles/{level}/{column}/{row}" for column, row in product(range(n_tiles), repeat=2))


def request_pages(address, paths, n_requests, seed):
    """Request paths in random order; return the paths without a response."""
    generator, failed = np.random.default_rng(seed), []
    with httpx.Client(base_url=address, timeout=240) as client:
        for index in generator.integers(len(paths), size=n_requests):
            response = client.get(paths[index])
            if response.status_code != 200 or not response.content:
                failed.append((paths[index], response.status_code))
    return failed


@needs_linux
@pytest.mark.parametrize("n_requests", [10, pytest.param(400, marks=pytest.mark.full)])
def test_viewer_answers_fifty_clients_at_a_time_in_bounded_memory(viewer, run, n_requests):
    """The operating system denies memory beyond the bound, so a request that needs more would fail."""
    address, process = viewer
    paths = list(list_paths(len(run.predictions)))
    with httpx.Client(base_url=address, timeout=240) as client:
        assert {client.get(path).status_code for path in paths} == {200}
    limit_growth(GROWTH, process.pid)
    with ThreadPoolExecutor(N_CLIENTS) as clients:
        pending = [clients.submit(request_pages, address, paths, n_requests, seed) for seed in range(N_CLIENTS)]
        assert [failure for each in pending for failure in each.result()] == []
    assert process.poll() is None
