import numpy as np

from bagwise.report.predicted_bags import PredictedBags


def test_predicted_bags_read_agrees_with_the_files(digits_run, three_classes_run, read_files):
    for run, classes in ((digits_run, ["0", "1"]), (three_classes_run, ["ant", "bee", "cow"])):
        predictions, (rows, weights, _) = PredictedBags.read(run), read_files(run)
        assert predictions.titles == classes
        assert predictions.rows == rows
        assert [classes[index] for index in predictions.targets] == [row["label"] for row in rows]
        assert [classes[index] for index in predictions.predicted] == [row["predicted"] for row in rows]
        probabilities = [[float(row[f"probability {name}"]) for name in classes] for row in rows]
        np.testing.assert_array_equal(predictions.outputs, probabilities)
        np.testing.assert_array_equal(predictions.weights, weights)
        assert np.diff(predictions.offsets).tolist() == [int(row["n_instances"]) for row in rows]
        assert (predictions.offsets[0], predictions.offsets[-1]) == (0, len(weights))


def test_shown_is_the_positive_class_of_two_and_the_predicted_class_of_more(digits_run, three_classes_run):
    assert set(PredictedBags.read(digits_run).shown) == {1}
    predictions = PredictedBags.read(three_classes_run)
    np.testing.assert_array_equal(predictions.shown, predictions.predicted)
