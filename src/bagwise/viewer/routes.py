"""Addresses → answers: each is parse → one call → bytes. Runs, bags and instances are numbers, never names or paths."""

import json
from pathlib import Path

import numpy as np
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from bagwise.errors import InputError
from bagwise.explain.heatmaps.scales import SCALES
from bagwise.showing.geojson import tiles_geojson
from bagwise.showing.layers import LAYERS, as_drawn
from bagwise.viewer.colour_tables import colour_tables
from bagwise.viewer.deep_zoom import png
from bagwise.viewer.exporting import file_name, instances_csv
from bagwise.viewer.safety import Guard
from bagwise.viewer.session import Session, Show

STATIC = Path(__file__).parent / "static"
BAG = "/api/runs/{run:int}/bags/{bag:int}"


def make_app(session: Session) -> Guard:
    """The application of a session, guarded."""
    answers = Answers(session)
    routes = [
        Route("/", lambda request: FileResponse(STATIC / "index.html")),
        Mount("/static", StaticFiles(directory=STATIC)),
        Route("/api/colours", lambda request: JSONResponse(colour_tables())),
        Route("/api/runs", answers.runs),
        Route("/api/runs/{run:int}/bags", answers.bags),
        Route(BAG, answers.bag),
        Route(f"{BAG}/positions", answers.positions),
        Route(f"{BAG}/keys", answers.keys),
        Route(f"{BAG}/layers/{{layer}}/{{class_number:int}}/{{scale}}", answers.layer),
        Route(f"{BAG}/instances/{{instance:int}}", answers.instance),
        Route(f"{BAG}/instances/{{instance:int}}/picture", answers.instance_picture),
        Route(f"{BAG}/tiles/{{level:int}}/{{column:int}}/{{row:int}}", answers.tile),
        Route(f"{BAG}/export/csv", answers.csv),
        Route(f"{BAG}/export/geojson/{{class_number:int}}", answers.geojson),
    ]
    refusals = {InputError: _refused, IndexError: _absent, HTTPException: _absent}
    return Guard(Starlette(routes=routes, exception_handlers=refusals))


class Answers:
    """One method a kind of address."""

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
        """x and y of each instance in turn."""
        show, bag = self._asked(request)
        return _numbers(_known(show.shown.bag(bag).positions))

    def keys(self, request: Request) -> Response:
        """1 for each instance that is truly key, else 0."""
        show, bag = self._asked(request)
        return _numbers(_known(show.shown.bag(bag).instance_labels) > 0)

    def layer(self, request: Request) -> Response:
        """A number an instance: as it is (``exact``), or on a scale, whose ends and words stand in the header Scale."""
        show, bag = self._asked(request)
        layer, scale = request.path_params["layer"], request.path_params["scale"]
        if layer not in LAYERS or scale not in (*SCALES, "exact"):
            raise IndexError(layer)
        number = _class_number(request, show)
        values = show.layers.values(layer, bag, number)
        if scale == "exact":
            return _numbers(values)
        found = as_drawn(layer, values, show.shown.run.classes[number]).scaled(scale)
        response = _numbers(found.values)
        response.headers["Scale"] = json.dumps({**found._asdict(), "values": None})
        return response

    def instance_picture(self, request: Request) -> Response:
        show, bag = self._asked(request)
        pixels = show.gallery.of_instance(bag, request.path_params["instance"])
        return Response(png(pixels), media_type="image/png")

    def tile(self, request: Request) -> Response:
        show, bag = self._asked(request)
        place = (request.path_params[name] for name in ("level", "column", "row"))
        return Response(show.gallery.tile(bag, *place), media_type="image/jpeg")

    def csv(self, request: Request) -> Response:
        show, bag = self._asked(request)
        return _download(instances_csv(show.shown, show.layers, bag), "text/csv", show, bag, "csv")

    def geojson(self, request: Request) -> Response:
        show, bag = self._asked(request)
        tiles = tiles_geojson(show.shown, show.layers, bag, _class_number(request, show))
        return _download(json.dumps(tiles, allow_nan=False), "application/geo+json", show, bag, "geojson")

    def _asked(self, request: Request) -> tuple[Show, int]:
        bag = request.path_params["bag"]
        return self._session.show(request.path_params["run"], bag), bag


def _class_number(request: Request, show: Show) -> int:
    number = request.path_params["class_number"]
    if number >= len(show.shown.run.classes):
        raise IndexError(number)
    return number


def _known(values: np.ndarray | None) -> np.ndarray:
    if values is None:
        raise IndexError("the bags have no such numbers")
    return values


def _numbers(values: np.ndarray) -> Response:
    """Numbers as little-endian float32, one after another."""
    return Response(np.ascontiguousarray(values, dtype="<f4").tobytes(), media_type="application/octet-stream")


def _download(content: str, media_type: str, show: Show, bag: int, suffix: str) -> Response:
    name = file_name(show.shown.run.predictions[bag]["bag"], suffix)
    return Response(content, media_type=media_type, headers={"Content-Disposition": f'attachment; filename="{name}"'})


async def _refused(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": str(error)}, 422)


async def _absent(request: Request, error: Exception) -> Response:
    return JSONResponse({"error": "there is nothing at this address"}, 404)
