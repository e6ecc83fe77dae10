"""Transformers of instances equal the same transformer applied to the rows of the training bags."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.feature_selection import SelectKBest
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer, StandardScaler

from bagwise.data.datasets.registry import load_dataset
from bagwise.errors import InputError
from bagwise.estimators.classical.pooled import PooledClassifier
from bagwise.estimators.instance_transformer import InstanceTransformer, apply_to_instances

NEEDLES = load_dataset("needles", n_bags=40)
WIDTH = NEEDLES.instance_shape[0]
NAMED = NEEDLES.replace(feature_names=[f"feature {column}" for column in range(WIDTH)])


def test_apply_to_instances_fits_the_rows_of_the_training_bags():
    training, test = NEEDLES[:30], NEEDLES[30:]
    scaler = apply_to_instances(StandardScaler()).fit(training)
    expected = StandardScaler().fit(training.instances).transform(test.instances)
    found = scaler.transform(test)
    np.testing.assert_array_equal(found.instances, expected)
    np.testing.assert_array_equal(found.offsets, test.offsets)
    np.testing.assert_array_equal(found.labels, test.labels)
    np.testing.assert_array_equal(found.instance_labels, test.instance_labels)
    np.testing.assert_array_equal(scaler.transform(list(test)).instances, expected)


def test_apply_to_instances_can_be_cloned_and_searched():
    scaler = apply_to_instances(StandardScaler(with_mean=False)).fit(NEEDLES)
    copy = clone(scaler)
    assert isinstance(copy, InstanceTransformer)
    assert not hasattr(copy, "transformer_")
    assert scaler.get_params()["transformer__with_mean"] is False
    assert not hasattr(scaler.transformer, "mean_"), "a copy is fitted"
    model = make_pipeline(apply_to_instances(PCA()), PooledClassifier(random_state=0))
    search = GridSearchCV(model, {"instancetransformer__transformer__n_components": [2, 3]}, cv=2)
    search.fit(NEEDLES, NEEDLES.labels)
    assert search.best_estimator_[-1].n_features_in_ in {2, 3}
    assert np.isfinite(cross_val_score(model, NEEDLES, NEEDLES.labels, cv=2)).all()


def test_get_feature_names_out_are_the_names_of_the_transformed_bags():
    scaler = apply_to_instances(StandardScaler()).fit(NAMED)
    assert scaler.transform(NAMED).feature_names == NAMED.feature_names
    chosen = apply_to_instances(SelectKBest(k=2)).fit(NAMED, NAMED.labels)
    assert chosen.transform(NAMED).feature_names == tuple(chosen.get_feature_names_out())
    assert set(chosen.get_feature_names_out()) < set(NAMED.feature_names)
    assert apply_to_instances(PCA(2)).fit(NAMED).transform(NAMED).feature_names == ("pca0", "pca1")
    assert scaler.fit(NEEDLES).transform(NEEDLES).feature_names is None
    assert not hasattr(apply_to_instances(FunctionTransformer(np.abs)).fit(NAMED), "get_feature_names_out")
    assert apply_to_instances(FunctionTransformer(np.abs)).fit(NAMED).transform(NAMED).feature_names is None


def test_transform_aligns_features_by_name():
    scaler = apply_to_instances(StandardScaler()).fit(NAMED)
    order = np.arange(WIDTH)[::-1]
    swapped = NAMED.replace(instances=NAMED.instances[:, order], feature_names=[NAMED.feature_names[i] for i in order])
    np.testing.assert_array_equal(scaler.transform(swapped).instances, scaler.transform(NAMED).instances)


def test_transform_makes_sparse_results_dense():
    bins = apply_to_instances(KBinsDiscretizer(3, quantile_method="averaged_inverted_cdf")).fit(NEEDLES)
    assert set(np.unique(bins.transform(NEEDLES).instances)) == {0.0, 1.0}


@pytest.mark.parametrize(
    ("transformer", "bags", "message"),
    [
        ("scaler", NEEDLES, "transformer is 'scaler' .str.; it must be a scikit-learn transformer"),
        (StandardScaler(), [np.zeros((2, 4, 4))], r"instances have shape \(4, 4\), but transformers need vectors"),
    ],
    ids=["no transformer", "images"],
)
def test_fit_rejects_what_cannot_be_transformed(transformer, bags, message):
    with pytest.raises(InputError, match=message):
        apply_to_instances(transformer).fit(bags)


def test_transform_rejects_other_features():
    scaler = apply_to_instances(StandardScaler()).fit(NEEDLES)
    with pytest.raises(InputError, match=f"was fitted to {WIDTH} features"):
        scaler.transform([np.zeros((2, WIDTH + 1))])
    with pytest.raises(InputError, match="3 labels for 40 bags"):
        scaler.fit(NEEDLES, [0, 1, 0])


def test_plain_transformers_name_the_transformer_of_bags():
    model = make_pipeline(StandardScaler(), PooledClassifier(random_state=0))
    with pytest.raises(InputError, match=r"apply_to_instances\(StandardScaler\(\)\).*bags\.instances"):
        model.fit(NEEDLES, NEEDLES.labels)
