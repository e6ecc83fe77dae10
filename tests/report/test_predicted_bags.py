import numpy as np

from bagwise.report.predicted_bags import PredictedBags


def test_predicted_bags_read_agrees_with_the_files(digits_run, three_classes_run, read_files):
    for run, classes in ((digits_run, ["0", "1"]), (three_classes_run, ["ant", "bee", "cow"])):
        predictions, (rows, weights, _) = PredictedBags.read(run), read_files(run)
        assert predictions.classes == classes
        assert predictions.rows == rows
        assert [classes[index] for index in predictions.targets] == [row["label"] for row in rows]
        assert [classes[index] for index in predictions.predicted] == [row["predicted"] for row in rows]
        probabilities = [[float(row[f"probability {name}"]) for name in classes] for row in rows]
        np.testing.assert_array_equal(predictions.probabilities, probabilities)
        np.testing.assert_array_equal(predictions.weights, weights)
        assert np.diff(predictions.offsets).tolist() == [int(row["n_instances"]) for row in rows]
        assert (predictions.offsets[0], predictions.offsets[-1]) == (0, len(weights))


def test_is_binary_is_true_for_two_classes_only(digits_run, three_classes_run):
    assert PredictedBags.read(digits_run).is_binary
    assert not PredictedBags.read(three_classes_run).is_binary
