"""Bag embeddings are the vectors from which bags are classified."""

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from bagwise.bags.bags import Bags
from bagwise.data.datasets.registry import load_dataset
from bagwise.estimators.bag_classifier import BagClassifier
from bagwise.estimators.bag_embedder import BagEmbedder
from bagwise.estimators.classical.mi_vlad import MiVLAD
from bagwise.estimators.classical.pooled import PooledClassifier
from bagwise.estimators.classical.scaled_bags import scale_bags
from estimators.test_laws import CLASSES, NEEDLES, make_quick, name_of

EMBEDDERS = [kind for kind in CLASSES if issubclass(kind, BagEmbedder)]


def test_embedders_are_the_methods_that_classify_vectors_of_bags():
    assert {kind.__name__ for kind in EMBEDDERS} == {"BagClassifier", "MiFV", "MiVLAD", "PooledClassifier"}
    others = [kind for kind in CLASSES if kind not in EMBEDDERS]
    assert not any(hasattr(make_quick(kind), "transform") for kind in others)
    assert not hasattr(BagClassifier(level="instance"), "transform")
    assert not hasattr(BagClassifier(level="instance"), "fit_transform")


@pytest.mark.parametrize("kind", EMBEDDERS, ids=name_of)
def test_transform_gives_one_vector_per_bag_that_depends_on_no_other_bag(kind):
    model = make_quick(kind)
    vectors = model.fit_transform(NEEDLES, NEEDLES.labels)
    assert vectors.ndim == 2
    assert len(vectors) == len(NEEDLES)
    np.testing.assert_array_equal(model.transform(NEEDLES), vectors)
    np.testing.assert_allclose(model.transform(NEEDLES[[7, 3]]), vectors[[7, 3]], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("pooling", ["gated attention", "max", "mean"])
@pytest.mark.parametrize("connections", [None, "residual"])
def test_transform_of_a_network_is_the_input_of_its_head(pooling, connections):
    model = BagClassifier(pooling=pooling, connections=connections, epochs=2, calibration=False, random_state=0)
    model.fit(NEEDLES, NEEDLES.labels)
    with torch.inference_mode():
        scores = model.model_.head(torch.from_numpy(model.transform(NEEDLES))).squeeze(1).numpy()
    np.testing.assert_allclose(scores, model.decision_function(NEEDLES), rtol=1e-5, atol=1e-6)
    assert not model.model_.training


def test_transform_of_a_network_reads_large_bags_in_pieces():
    model = BagClassifier(epochs=2, random_state=0).fit(NEEDLES, NEEDLES.labels)
    large = Bags.from_list([np.tile(NEEDLES[0], (200, 1))])
    np.testing.assert_allclose(model.transform(large), model.transform(NEEDLES[[0]]), rtol=1e-4, atol=1e-5)


def test_transform_of_pooled_and_vector_methods_is_the_input_of_the_classifier():
    pooled = PooledClassifier(LogisticRegression(), random_state=0).fit(NEEDLES, NEEDLES.labels)
    probabilities = pooled.learned_.classifier.predict_proba(pooled.transform(NEEDLES))
    np.testing.assert_allclose(probabilities, pooled.predict_proba(NEEDLES), rtol=1e-12)
    vectors = MiVLAD(calibration=False, random_state=0).fit(NEEDLES, NEEDLES.labels)
    scores = vectors.learned_.machine.scores(vectors.transform(NEEDLES))
    np.testing.assert_allclose(scores, vectors.learned_.scores(scale_bags(NEEDLES, vectors.scaling_)), rtol=1e-12)


def test_embedders_are_steps_of_pipelines():
    bags = load_dataset("needles", n_bags=20)
    model = make_pipeline(BagClassifier(epochs=2, random_state=0), LogisticRegression()).fit(bags, bags.labels)
    assert model.predict(bags).shape == (20,)
