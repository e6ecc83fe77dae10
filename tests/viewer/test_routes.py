import io
import json

import numpy as np
import pytest
from PIL import Image

from bagwise.explain.heatmaps.scales import SCALES, to_scale, to_signed_scale
from bagwise.runs import Run

BAG = "/api/runs/0/bags/0"


@pytest.fixture(scope="module")
def run(image_runs):
    return Run(image_runs / "attention")


def numbers(answer):
    assert answer.status_code == 200
    return np.frombuffer(answer.content, "<f4")


def test_the_page_and_its_parts_are_served(client):
    page = client.get("/")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert client.get("/static/app.js").headers["content-type"].startswith("text/javascript")
    assert "CodePlex" in client.get("/static/vendor/openseadragon.LICENSE.txt").text


def test_probabilities_are_the_text_of_the_predictions(client, run):
    for found, row in zip(client.get("/api/runs/0/bags").json(), run.predictions, strict=True):
        assert found["name"] == row["bag"]
        assert found["probabilities"] == [row[f"probability {label}"] for label in run.classes]


def test_numbers_to_draw_are_those_of_the_library(client, run, session):
    weights = run.weights[: run.offsets[1]]
    np.testing.assert_array_equal(numbers(client.get(f"{BAG}/layers/weight/0/exact")), weights)
    positions = run.test_bags()[[0]].positions
    np.testing.assert_array_equal(numbers(client.get(f"{BAG}/positions")).reshape(-1, 2), positions)
    contributions = session.show(0, 0).layers.values("contribution", 0, 1)
    for scale in SCALES:
        answer = client.get(f"{BAG}/layers/contribution/1/{scale}")
        expected = to_signed_scale(contributions, scale)
        np.testing.assert_array_equal(numbers(answer), expected.values.astype("<f4"))
        told = json.loads(answer.headers["scale"])
        assert (told["low"], told["high"], told["signed"], told["words"]) == expected[1:]
        plain = numbers(client.get(f"{BAG}/layers/weight/1/{scale}"))
        np.testing.assert_array_equal(plain, to_scale(weights, scale).values.astype("<f4"))


def test_an_instances_picture_is_a_png_of_its_pixels(client, run):
    answer = client.get(f"{BAG}/instances/3/picture")
    assert answer.headers["content-type"] == "image/png"
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(answer.content))), run.test_bags()[0][3])


def test_tiles_of_the_picture_are_jpeg(client):
    answer = client.get(f"{BAG}/tiles/7/0/0")
    assert answer.headers["content-type"] == "image/jpeg"
    assert Image.open(io.BytesIO(answer.content)).size == (96, 64)


@pytest.mark.parametrize(("form", "kind"), [("csv", "text/csv"), ("geojson/1", "application/geo+json")])
def test_exports_are_attachments_under_a_plain_name(client, session, form, kind):
    for bag in range(len(session.bags(0))):
        answer = client.get(f"/api/runs/0/bags/{bag}/export/{form}")
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(kind)
        assert answer.headers["content-disposition"].startswith("attachment; filename=")
        assert answer.headers["content-disposition"].isascii()


def test_head_gives_the_headers_alone(client):
    whole, head = client.get("/api/runs"), client.head("/api/runs")
    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["content-length"] == whole.headers["content-length"]


@pytest.mark.parametrize(
    "path",
    [
        "/api/runs/9/bags",
        "/api/runs/0/bags/999",
        "/api/runs/0/bags/0/instances/9999",
        "/api/runs/0/bags/0/instances/9999/picture",
        "/api/runs/0/bags/0/layers/weight/2/raw",
        "/api/runs/0/bags/0/layers/weight/0/linear",
        "/api/runs/0/bags/0/layers/secrets/0/raw",
        "/api/runs/0/bags/0/tiles/99/0/0",
        "/api/runs/0/bags/0/tiles/7/5/0",
        "/api/runs/0/bags/0/keys",
        "/api/runs/-1/bags",
        "/api/runs/1e3/bags",
        "/api/runs/99999999999999999999999999/bags",
        "/nowhere",
    ],
)
def test_what_is_not_there_is_404_in_plain_words(client, path):
    answer = client.get(path)
    assert answer.status_code == 404
    assert answer.json() == {"error": "there is nothing at this address"}


def test_what_cannot_be_shown_is_said_in_words(digits_run):
    import asyncio

    import httpx

    from bagwise.viewer.routes import make_app
    from bagwise.viewer.session import Session

    async def ask():
        transport = httpx.ASGITransport(make_app(Session({"digits": digits_run})))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.get("/api/runs/0/bags/0/export/geojson/1")

    answer = asyncio.run(ask())
    assert answer.status_code == 422
    assert "no positions" in answer.json()["error"]
