from bagwise.datasets import load_dataset
from bagwise.paper.pictures.keeping import trained


def test_a_model_is_trained_once_and_anew_for_other_parameters(tmp_path):
    bags = load_dataset("needles", n_bags=20)
    first = trained(tmp_path / "model", bags, epochs=1)
    written = (tmp_path / "model").stat().st_mtime_ns
    again = trained(tmp_path / "model", bags, epochs=1)
    assert (again.predict_proba(bags) == first.predict_proba(bags)).all()
    assert (tmp_path / "model").stat().st_mtime_ns == written
    assert trained(tmp_path / "model", bags, epochs=2).epochs == 2
