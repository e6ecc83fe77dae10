import pytest

from bagwise.errors import InputError
from bagwise.estimators.methods import SINGLE_METHODS, make_network_method, resolve_name
from bagwise.estimators.registry import METHODS


def test_single_methods_are_registered_and_combine_no_others():
    assert SINGLE_METHODS.items() <= METHODS.items()
    for name, method in METHODS.items():
        assert (name in SINGLE_METHODS) == (".meta." not in method.kind.__module__)


def test_resolve_name_chooses_from_the_given_table_only():
    table = {name: SINGLE_METHODS[name] for name in ("mi-SVM", "extra trees")}
    assert resolve_name("Extra_Trees", table) == "extra trees"
    assert resolve_name("misvm", table) == "mi-SVM", "it is ambiguous only if the table has both"
    with pytest.raises(InputError, match="method 'mi-Graph' is unknown"):
        resolve_name("mi-Graph", table)


def test_make_network_method_builds_new_networks_with_its_parameters():
    method = make_network_method(pooling="max", epochs=3)
    first, second = method.build(), method.build()
    assert (first.pooling, first.epochs) == ("max", 3)
    assert first is not second
