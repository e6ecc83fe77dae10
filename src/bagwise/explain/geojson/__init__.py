"""GeoJSON as QuPath reads and writes it: tiles and regions with class, colour and measurements."""

from bagwise.explain.geojson.reading import Feature, read_geojson
from bagwise.explain.geojson.writing import to_geojson, write_geojson

__all__ = ["Feature", "read_geojson", "to_geojson", "write_geojson"]
