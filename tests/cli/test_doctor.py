import json

import torch

from command_line import bagwise


def test_doctor_prints_versions_devices_and_optional_packages():
    found = json.loads(bagwise("doctor", "--json").stdout)
    assert found["packages"]["torch"] == torch.__version__
    assert found["devices"]["cpu"]
    assert found["optional"]["pandas"]
    assert "optional packages" in bagwise("doctor").stdout
