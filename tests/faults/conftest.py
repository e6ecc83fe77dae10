"""Fixtures of the fault tests: a fork server for processes, and small slides."""

import pytest

from faults.processes import ForkServer


@pytest.fixture(scope="session")
def fork_server(tmp_path_factory):
    server = ForkServer(tmp_path_factory.mktemp("fork-server"))
    yield server
    server.close()


@pytest.fixture(scope="session")
def slides(tmp_path_factory):
    """Return a folder with two slides."""
    pytest.importorskip("openslide")
    from data.slides.slide_files import painted, write_pyramid

    folder = tmp_path_factory.mktemp("slides")
    for number in range(2):
        write_pyramid(folder / f"slide-{number}.tif", painted(number), levels=2)
    return folder


@pytest.fixture(scope="session")
def tiles(slides, tmp_path_factory):
    """Return a folder with the tiles of the slides; tests must copy it before they extract features."""
    from bagwise.data.slides.slide_tiles import TilingSettings
    from bagwise.data.slides.tile_files import tile_to_file

    folder = tmp_path_factory.mktemp("tiles")
    for slide in sorted(slides.glob("*.tif")):
        tile_to_file(slide, folder, TilingSettings(size=64, mpp=0.25))
    return folder
