"""The web application: each handler parses the URL, makes one call and encodes the result.

Runs, bags and instances are addressed by number, never by name or path. The page uses the colour maps of
``bagwise explain``. Downloads have file names that are valid on every operating system.
"""

import csv
import io
import json
import re
from functools import cache
from pathlib import Path

import numpy as np
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from bagwise.errors import InputError
from bagwise.explain import BagLayers, make_instance_rows, make_map_layer, tiles_to_geojson
from bagwise.explain.heatmaps import DIVERGING, SCALES, STEPS, apply_colours, choose_colour_map
from bagwise.figures import COLOUR_MAP
from bagwise.runs import OpenRun
from bagwise.viewer.pictures import encode_png
from bagwise.viewer.security import RequestGuard
from bagwise.viewer.session import Session, ViewedRun

STATIC = Path(__file__).parent / "static"
BAG = "/api/runs/{run:int}/bags/{bag:int}"
SEQUENTIAL_NAMES = (COLOUR_MAP, "viridis", "magma")
DIVERGING_NAMES = (DIVERGING, "PuOr_r")
MAX_NAME_LENGTH = 100  # characters of a bag name in a file name


def make_app(session: Session) -> RequestGuard:
    """Return the ASGI application of a session, with security checks.

    Parameters
    ----------
    session : Session
        The runs to show.

    Returns
    -------
    RequestGuard
        The application.
    """
    handlers = Routes(session)
    routes = [
        Route("/", lambda request: FileResponse(STATIC / "index.html")),
        Mount("/static", StaticFiles(directory=STATIC)),
        Route("/api/colours", lambda request: JSONResponse(make_colour_tables())),
        Route("/api/runs", handlers.runs),
        Route("/api/runs/{run:int}/bags", handlers.bags),
        Route(BAG, handlers.bag),
        Route(f"{BAG}/positions", handlers.positions),
        Route(f"{BAG}/keys", handlers.keys),
        Route(f"{BAG}/layers/{{layer}}/{{output:int}}/{{scale}}", handlers.layer),
        Route(f"{BAG}/instances/{{instance:int}}", handlers.instance),
        Route(f"{BAG}/instances/{{instance:int}}/picture", handlers.instance_picture),
        Route(f"{BAG}/tiles/{{level:int}}/{{column:int}}/{{row:int}}", handlers.tile),
        Route(f"{BAG}/export/csv", handlers.csv),
        Route(f"{BAG}/export/geojson/{{output:int}}", handlers.geojson),
    ]
    exception_handlers = {InputError: _handle_input_error, IndexError: _handle_missing, HTTPException: _handle_missing}
    return RequestGuard(Starlette(routes=routes, exception_handlers=exception_handlers))


class Routes:
    """The request handlers, one per kind of URL."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def runs(self, request: Request) -> Response:
        return JSONResponse(self._session.runs())

    def bags(self, request: Request) -> Response:
        return JSONResponse(self._session.bags(request.path_params["run"]))

    def bag(self, request: Request) -> Response:
        return JSONResponse(self._session.bag(request.path_params["run"], request.path_params["bag"]))

    def instance(self, request: Request) -> Response:
        numbers = (request.path_params[name] for name in ("run", "bag", "instance"))
        return JSONResponse(self._session.instance(*numbers))

    def positions(self, request: Request) -> Response:
        """Return x and y of each instance, interleaved."""
        run, bag = self._find_bag(request)
        return _encode_floats(_require(run.open_run.bag(bag).positions))

    def keys(self, request: Request) -> Response:
        """Return 1 for each key instance, else 0."""
        run, bag = self._find_bag(request)
        return _encode_floats(_require(run.open_run.bag(bag).instance_labels) > 0)

    def layer(self, request: Request) -> Response:
        """Return one value per instance: unscaled (``exact``), or on the scale that the header Scale describes."""
        run, bag = self._find_bag(request)
        layer, scale = request.path_params["layer"], request.path_params["scale"]
        if layer not in run.open_run.run.target.layers or scale not in (*SCALES, "exact"):
            raise IndexError(layer)
        number = _get_output_number(request, run)
        values = run.layers.values(layer, bag, number)
        if scale == "exact":
            return _encode_floats(values)
        scaled = make_map_layer(layer, values, run.open_run.run.target.outputs[number].title).scale_values(scale)
        response = _encode_floats(scaled.values)
        response.headers["Scale"] = json.dumps({**scaled._asdict(), "values": None})
        return response

    def instance_picture(self, request: Request) -> Response:
        run, bag = self._find_bag(request)
        pixels = run.pictures.get_instance_picture(bag, request.path_params["instance"])
        return Response(encode_png(pixels), media_type="image/png")

    def tile(self, request: Request) -> Response:
        run, bag = self._find_bag(request)
        level, column, row = (request.path_params[name] for name in ("level", "column", "row"))
        return Response(run.pictures.get_tile(bag, level, column, row), media_type="image/jpeg")

    def csv(self, request: Request) -> Response:
        run, bag = self._find_bag(request)
        return _make_download(make_instances_csv(run.open_run, run.layers, bag), "text/csv", run, bag, "csv")

    def geojson(self, request: Request) -> Response:
        run, bag = self._find_bag(request)
        tiles = tiles_to_geojson(run.open_run, run.layers, bag, _get_output_number(request, run))
        return _make_download(json.dumps(tiles, allow_nan=False), "application/geo+json", run, bag, "geojson")

    def _find_bag(self, request: Request) -> tuple[ViewedRun, int]:
        bag = request.path_params["bag"]
        return self._session.get_run(request.path_params["run"], bag), bag


def _get_output_number(request: Request, run: ViewedRun) -> int:
    number = request.path_params["output"]
    if number >= run.open_run.run.target.n_outputs:
        raise IndexError(number)
    return number


def _require(values: np.ndarray | None) -> np.ndarray:
    if values is None:
        raise IndexError("the bags do not have these values")
    return values


def _encode_floats(values: np.ndarray) -> Response:
    """Encode values as consecutive little-endian float32."""
    return Response(np.ascontiguousarray(values, dtype="<f4").tobytes(), media_type="application/octet-stream")


def _make_download(content: str, media_type: str, run: ViewedRun, bag: int, suffix: str) -> Response:
    name = make_file_name(run.open_run.run.predictions[bag]["bag"], suffix)
    return Response(content, media_type=media_type, headers={"Content-Disposition": f'attachment; filename="{name}"'})


async def _handle_input_error(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, 422)


async def _handle_missing(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": "not found"}, 404)


def make_instances_csv(open_run: OpenRun, layers: BagLayers, bag: int) -> str:
    """Return the instances of a bag as csv text, one row per instance."""
    stream = io.StringIO()
    rows = make_instance_rows(open_run, layers, bag)
    writer = csv.DictWriter(stream, fieldnames=list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return stream.getvalue()


def make_file_name(bag: str, suffix: str) -> str:
    """Return a safe file name for any bag name.

    >>> make_file_name("../a<b>.png", "csv")
    'a-b-.png.csv'
    """
    return f"{re.sub('[^A-Za-z0-9._@-]+', '-', bag).lstrip('.-')[:MAX_NAME_LENGTH] or 'bag'}.{suffix}"


@cache
def make_colour_tables() -> dict[str, dict[str, list[list[int]]]]:
    """Return red, green and blue from the lowest to the highest value, by kind and name; the first is the default."""
    return {
        "sequential": {name: _make_colour_table(False, name) for name in SEQUENTIAL_NAMES},
        "diverging": {name: _make_colour_table(True, name) for name in DIVERGING_NAMES},
    }


def _make_colour_table(signed: bool, name: str) -> list[list[int]]:
    colours = choose_colour_map(signed, name)
    return apply_colours(np.linspace(colours.lowest, 1, STEPS), colours).tolist()
