"""What was read of the test bags is what stands in the files of the run."""

import numpy as np

from bagwise.summary.judged import Judged


def test_it_is_what_the_files_say(digits_run, three_classes, written):
    for run, classes in ((digits_run, ["0", "1"]), (three_classes, ["ant", "bee", "cow"])):
        judged, (rows, weights, _) = Judged.read(run), written(run)
        assert judged.classes == classes
        assert judged.rows == rows
        assert [classes[number] for number in judged.targets] == [row["label"] for row in rows]
        assert [classes[number] for number in judged.predicted] == [row["predicted"] for row in rows]
        probabilities = [[float(row[f"probability {name}"]) for name in classes] for row in rows]
        np.testing.assert_array_equal(judged.probabilities, probabilities)
        np.testing.assert_array_equal(judged.weights, weights)
        assert np.diff(judged.offsets).tolist() == [int(row["n_instances"]) for row in rows]
        assert (judged.offsets[0], judged.offsets[-1]) == (0, len(weights))


def test_only_two_classes_have_a_positive_one(digits_run, three_classes):
    assert Judged.read(digits_run).two_classes
    assert not Judged.read(three_classes).two_classes
