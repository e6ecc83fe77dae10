import json

import pytest
import torch

import bagwise
from bagwise.training.environment import describe_environment, describe_repeatability


def test_describe_environment_contains_the_installed_versions_as_json():
    found = describe_environment()
    assert found["bagwise"] == bagwise.__version__
    assert found["packages"]["torch"] == torch.__version__
    assert json.loads(json.dumps(found)) == found


def test_describe_environment_describes_the_given_device(monkeypatch):
    found = describe_environment("cpu")
    assert (found["device"], found["repeatable"]) == ("cpu", describe_repeatability(torch.device("cpu")))
    monkeypatch.setattr("bagwise.training.environment.resolve_device", {"auto": torch.device("cuda")}.get)
    found = describe_environment()
    assert (found["device"], found["repeatable"]) == ("cuda", describe_repeatability(torch.device("cuda")))


@pytest.mark.parametrize("kind", ["cuda", "mps"])
def test_describe_repeatability_is_bitwise_on_the_cpu_only(kind):
    assert "the last bits may differ" in describe_repeatability(torch.device(kind))
    assert describe_repeatability(torch.device("cpu")).startswith("bitwise identical")
