import csv
import io
import json

import numpy as np
import pytest
from PIL import Image

from bagwise.explain.bag_files import make_instance_rows
from bagwise.explain.heatmaps.scales import SCALES, apply_colours, apply_scale, apply_signed_scale, choose_colour_map
from bagwise.explain.layers import BagLayers
from bagwise.runs.open_run import OpenRun
from bagwise.runs.run import Run
from bagwise.viewer.routes import make_colour_tables, make_file_name, make_instances_csv


@pytest.fixture(scope="module")
def open_run(image_runs):
    return OpenRun(Run(image_runs / "attention"))


def test_make_instances_csv_round_trips_the_rows(open_run):
    layers = BagLayers(open_run)
    for bag in range(len(open_run.run.predictions)):  # some bags have unusual names
        rows = list(csv.DictReader(io.StringIO(make_instances_csv(open_run, layers, bag), newline="")))
        expected = [
            {title: str(value) for title, value in row.items()} for row in make_instance_rows(open_run, layers, bag)
        ]
        assert rows == expected


@pytest.mark.parametrize("name", ["../../etc/passwd", "a\r\nSet-Cookie: x", 'quo"te', "\0", "名前", ".hidden", ""])
def test_make_file_name_is_plain_ascii(name):
    found = make_file_name(name, "csv")
    assert found.isascii()
    assert not set(found) & set('/\\"\r\n\0;')
    assert not found.startswith(".")
    assert found.endswith(".csv")


def test_make_colour_tables_are_the_colours_of_the_library():
    tables = make_colour_tables()
    for kind, lowest in (("sequential", 0), ("diverging", -1)):
        for name, table in tables[kind].items():
            colours = choose_colour_map(lowest < 0, name)
            for value in (lowest, 0.25, 0.5, 1):
                place = round((value - lowest) / (1 - lowest) * (len(table) - 1))
                assert table[place] == apply_colours(np.array([value]), colours)[0].tolist()


def test_make_colour_tables_of_signed_values_are_neutral_in_the_middle():
    for table in make_colour_tables()["diverging"].values():
        middle = table[len(table) // 2]
        assert len(table) % 2 == 1
        assert max(middle) - min(middle) <= 5
        assert min(middle) > 230


BAG = "/api/runs/0/bags/0"


@pytest.fixture(scope="module")
def run(image_runs):
    return Run(image_runs / "attention")


def read_floats(response):
    assert response.status_code == 200
    return np.frombuffer(response.content, "<f4")


def test_page_and_static_files_are_served(client):
    page = client.get("/")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    assert client.get("/static/app.js").headers["content-type"].startswith("text/javascript")
    assert "CodePlex" in client.get("/static/vendor/openseadragon.LICENSE.txt").text


def test_bags_route_has_the_text_of_the_predictions(client, run):
    for found, row in zip(client.get("/api/runs/0/bags").json(), run.predictions, strict=True):
        assert found["name"] == row["bag"]
        assert found["outputs"] == [row[f"probability {label}"] for label in run.target.names]


def test_layer_route_has_the_values_of_the_library(client, run, session):
    weights = run.weights[: run.offsets[1]]
    np.testing.assert_array_equal(read_floats(client.get(f"{BAG}/layers/weight/0/exact")), weights)
    positions = run.test_bags()[[0]].positions
    np.testing.assert_array_equal(read_floats(client.get(f"{BAG}/positions")).reshape(-1, 2), positions)
    contributions = session.get_run(0, 0).layers.values("contribution", 0, 1)
    for scale in SCALES:
        response = client.get(f"{BAG}/layers/contribution/1/{scale}")
        expected = apply_signed_scale(contributions, scale)
        np.testing.assert_array_equal(read_floats(response), expected.values.astype("<f4"))
        scale_header = json.loads(response.headers["scale"])
        assert (scale_header["low"], scale_header["high"], scale_header["signed"], scale_header["caption"]) == expected[
            1:
        ]
        weights_scaled = read_floats(client.get(f"{BAG}/layers/weight/1/{scale}"))
        np.testing.assert_array_equal(weights_scaled, apply_scale(weights, scale).values.astype("<f4"))


def test_instance_picture_route_is_a_png_of_its_pixels(client, run):
    response = client.get(f"{BAG}/instances/3/picture")
    assert response.headers["content-type"] == "image/png"
    np.testing.assert_array_equal(np.asarray(Image.open(io.BytesIO(response.content))), run.test_bags()[0][3])


def test_tile_route_is_a_jpeg(client):
    response = client.get(f"{BAG}/tiles/7/0/0")
    assert response.headers["content-type"] == "image/jpeg"
    assert Image.open(io.BytesIO(response.content)).size == (96, 64)


@pytest.mark.parametrize(("form", "kind"), [("csv", "text/csv"), ("geojson/1", "application/geo+json")])
def test_export_routes_are_attachments_with_an_ascii_name(client, session, form, kind):
    for bag in range(len(session.bags(0))):
        response = client.get(f"/api/runs/0/bags/{bag}/export/{form}")
        assert response.status_code == 200
        assert response.headers["content-type"].startswith(kind)
        assert response.headers["content-disposition"].startswith("attachment; filename=")
        assert response.headers["content-disposition"].isascii()


def test_head_request_returns_headers_only(client):
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
def test_unknown_urls_return_404(client, path):
    response = client.get(path)
    assert response.status_code == 404
    assert response.json() == {"error": "not found"}


def test_input_errors_return_422_with_the_message(digits_run):
    import asyncio

    import httpx

    from bagwise.viewer.routes import make_app
    from bagwise.viewer.session import Session

    async def send_request():
        transport = httpx.ASGITransport(make_app(Session({"digits": digits_run})))
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.get("/api/runs/0/bags/0/export/geojson/1")

    response = asyncio.run(send_request())
    assert response.status_code == 422
    assert "no positions" in response.json()["error"]
