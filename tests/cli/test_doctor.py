import json

import torch

from command_line import bagwise


def test_it_tells_versions_devices_and_optional_parts():
    found = json.loads(bagwise("doctor", "--json").stdout)
    assert found["packages"]["torch"] == torch.__version__
    assert found["devices"]["cpu"]
    assert found["optional"]["pandas"]
    assert "optional parts" in bagwise("doctor").stdout
