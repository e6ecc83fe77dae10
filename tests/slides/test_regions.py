"""From a real slide to a model: regions of it as bags, some with a planted tile, which the model must find."""

import numpy as np
import pytest

from bagwise import BagClassifier, Bags
from bagwise.slides.slide import Slide
from bagwise.slides.tiling import Wish, tile
from slides.slide_files import REAL, needs_real_slide

REGION, SIZE = 320, 64


def colours(tiles):
    """Mean and spread of each channel: enough of an extractor for a planted colour."""
    return np.concatenate([tiles.mean(axis=(1, 2)), tiles.std(axis=(1, 2))], axis=1).astype(np.float32)


@pytest.fixture(scope="module")
def regions():
    """Bags of tiles of one region each; every other region has one of its tiles stained greener."""
    with Slide(REAL) as slide:
        corners = tile(slide, Wish(size=SIZE, mpp=None, level=0)).positions
        pixels = np.stack([slide.read(x, y, SIZE, SIZE) for x, y in corners.tolist()]).astype(np.float32)
    owners = corners // REGION @ [1000, 1]
    bags, labels, planted = [], [], []
    for region in np.unique(owners):
        rows = np.flatnonzero(owners == region)
        if len(rows) < 4:
            continue
        labels.append(len(labels) % 2)
        stained = np.zeros(len(rows), dtype=int)
        tiles = pixels[rows]
        if labels[-1]:
            stained[len(rows) // 2] = 1
            tiles[len(rows) // 2, ..., 1] = tiles[len(rows) // 2, ..., 1] * 0.5 + 127
        bags.append(colours(tiles))
        planted.append(stained)
    return Bags.from_list(bags, labels, instance_labels=np.concatenate(planted))


@needs_real_slide
def test_a_model_learns_from_regions_of_the_slide_and_finds_what_was_planted(regions):
    pytest.importorskip("openslide")
    assert regions.n_bags >= 20
    training, test = regions[np.arange(len(regions)) % 3 > 0], regions[np.arange(len(regions)) % 3 == 0]
    model = BagClassifier(epochs=40, batch_size=4, learning_rate=4e-3, random_state=1).fit(training, training.labels)
    assert (model.predict(test) == test.labels).mean() >= 0.8
    weights = model.weigh(test)
    positive = np.flatnonzero(test.labels)
    hits = [
        test.instance_labels[test.offsets[bag] + np.argmax(weights[test.offsets[bag] : test.offsets[bag + 1]])]
        for bag in positive
    ]
    assert np.mean(hits) >= 0.8
