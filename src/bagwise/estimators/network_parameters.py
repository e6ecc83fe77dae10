"""Checks of the parameters of networks that concern held-out bags: shares, folds, patience, calibration."""

import numbers
from typing import Any

import torch

from bagwise.arguments import check_bool, check_real_number, check_whole_number, describe_value
from bagwise.errors import InputError
from bagwise.estimators.calibration import check_calibration
from bagwise.estimators.thresholds import check_threshold
from bagwise.targets import AUTO, Target
from bagwise.training.streaming import resolve_memory


def check_network_parameters(estimator: Any, target: Target) -> None:
    """Check the parameters that are checked neither by the training settings nor by the parts of the model."""
    check_whole_number("attention_width", estimator.attention_width, minimum=1)
    check_whole_number("heads", estimator.heads, minimum=1)
    resolve_memory(estimator.memory, torch.device("cpu"))
    check_bool("threshold", estimator.threshold)
    if not is_auto(estimator.calibration):
        check_bool("calibration", estimator.calibration)
        if estimator.calibration:
            check_calibration(target)
    check_validation_parameter(estimator.validation)
    if estimator.threshold:
        check_threshold(target)


def is_auto(value: Any) -> bool:
    """Return whether a parameter has the value "auto"."""
    return isinstance(value, str) and value == AUTO


def has_patience(estimator: Any) -> bool:
    """Return whether the estimator asks for early stopping by a number of epochs."""
    return estimator.patience is not None and not is_auto(estimator.patience)


def check_validation_parameter(validation: Any) -> None:
    """Check that the parameter is a share, a number of folds, "auto" or None."""
    if validation is None or is_auto(validation):
        return
    if isinstance(validation, numbers.Integral) and not isinstance(validation, bool) and int(validation) > 1:
        return
    try:
        check_real_number("validation", validation, above=0, below=1)
    except InputError:
        raise InputError(
            f"validation is {describe_value(validation)}; it must be a share between 0 and 1, a number of folds of at "
            "least 2 (a whole number, such as 5), 'auto' or None (on the command line: none)"
        ) from None


def check_uses_of_held_out_bags(estimator: Any, validation: float | int | None, has_validation_bags: bool) -> None:
    """Reject parameters that need held-out bags if there are none, or that contradict the way they are used."""
    has_share = has_validation_bags or isinstance(validation, float)
    if estimator.averaging and has_patience(estimator):
        raise InputError(
            f"averaging and patience cannot be combined (averaging is {estimator.averaging:g}): patience needs the "
            "best epoch, averaging the last ones; set averaging=0 or patience='auto' (on the command line: "
            "--averaging 0 or --patience auto)"
        )
    if estimator.averaging and has_share:
        raise InputError(
            f"averaging and validation cannot be combined (averaging is {estimator.averaging:g}): the model is either "
            "the average of the last epochs or the best epoch on the validation bags; set averaging=0, or validation "
            "to None or a number of folds (on the command line: --averaging 0, --validation none or --validation 5)"
        )
    if has_patience(estimator) and not has_share:
        raise InputError(
            "patience needs one set of validation bags, not folds; set validation to a share, e.g. validation=0.2 "
            "(on the command line: --validation 0.2)"
        )
    uses = list_uses_of_held_out_bags(estimator)
    if uses and validation is None and not has_validation_bags:
        raise InputError(
            f"the {uses[0]} is learned from held-out bags; set validation, e.g. validation=0.2 or validation=5 (on the "
            "command line: --validation 0.2 or --validation 5)"
        )


def list_uses_of_held_out_bags(estimator: Any) -> list[str]:
    """List what the parameters demand to be learned from held-out bags."""
    wanted = {
        "calibration": not is_auto(estimator.calibration) and bool(estimator.calibration),
        "threshold": estimator.threshold,
        "epoch": has_patience(estimator),
    }
    return [use for use, is_wanted in wanted.items() if is_wanted]
