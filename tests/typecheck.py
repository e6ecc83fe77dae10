"""The checker behind jaxtyping's import hook: beartype, for which an int is also a float.

The constructors of estimators are not checked: as scikit-learn requires, they store any value, and ``fit`` checks it.
"""

import inspect

from beartype import BeartypeConf, beartype

check_types = beartype(conf=BeartypeConf(is_pep484_tower=True))


def check(function):
    is_constructor = getattr(function, "__name__", "") == "__init__"
    if is_constructor and "random_state" in inspect.signature(function).parameters:
        return function
    return check_types(function)
