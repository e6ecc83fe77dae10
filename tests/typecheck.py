"""The checker behind jaxtyping's import hook: beartype, for which an int is also a float.

Functions that take user input are not checked: they must reject any wrong value themselves, with a message of ours.
These are the constructors of estimators, which as scikit-learn requires store any value, and functions of X or y.
"""

import inspect

from beartype import BeartypeConf, beartype

check_types = beartype(conf=BeartypeConf(is_pep484_tower=True))


def check(function):
    parameters = inspect.signature(function).parameters.keys() if inspect.isfunction(function) else set()
    is_constructor = getattr(function, "__name__", "") == "__init__" and "random_state" in parameters
    if is_constructor or {"X", "y"} & parameters:
        return function
    return check_types(function)
