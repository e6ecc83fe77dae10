import json

import pytest
import torch

import bagwise
from bagwise.runs import describe_environment
from bagwise.runs.environment import promise


def test_versions_are_those_that_run_and_the_result_is_json():
    found = describe_environment()
    assert found["bagwise"] == bagwise.__version__
    assert found["packages"]["torch"] == torch.__version__
    assert json.loads(json.dumps(found)) == found


@pytest.mark.parametrize("kind", ["cuda", "mps"])
def test_a_device_that_cannot_promise_the_same_bits_says_so(kind):
    assert "the last bits may differ" in promise(torch.device(kind))
    assert promise(torch.device("cpu")).startswith("the same bits")


def test_the_promise_is_that_of_the_device_that_is_asked_for(monkeypatch):
    found = describe_environment("cpu")
    assert (found["device"], found["repeatable"]) == ("cpu", promise(torch.device("cpu")))
    monkeypatch.setattr("bagwise.runs.environment.resolve", {"auto": torch.device("cuda")}.get)
    found = describe_environment()
    assert (found["device"], found["repeatable"]) == ("cuda", promise(torch.device("cuda")))
