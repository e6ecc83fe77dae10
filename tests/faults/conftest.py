"""What the tests of faults share: a nursery of processes, and slides that take a while."""

import pytest

from faults.processes import Nursery


@pytest.fixture(scope="session")
def nursery(tmp_path_factory):
    found = Nursery(tmp_path_factory.mktemp("nursery"))
    yield found
    found.close()


class Slides:
    """Two slides with thousands of tiles each."""

    def __init__(self, folder):
        from data.slides.slide_files import painted, write_pyramid

        self.folder = folder
        for number in range(2):
            write_pyramid(folder / f"slide-{number}.tif", painted(number), levels=2)

    def tile_into(self, tiles):
        from bagwise.data.slides.tile_files import tile_to_file
        from bagwise.data.slides.tiling import TilingSettings

        for slide in sorted(self.folder.glob("*.tif")):
            tile_to_file(slide, tiles, TilingSettings(size=16, mpp=0.25))


@pytest.fixture(scope="session")
def slides(tmp_path_factory):
    pytest.importorskip("openslide")
    return Slides(tmp_path_factory.mktemp("slides"))
