import json

import torch

import bagwise
from bagwise.runs import describe_environment


def test_versions_are_those_that_run_and_the_result_is_json():
    found = describe_environment()
    assert found["bagwise"] == bagwise.__version__
    assert found["packages"]["torch"] == torch.__version__
    assert json.loads(json.dumps(found)) == found
