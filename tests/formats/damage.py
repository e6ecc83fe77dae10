"""Damage to files: bytes changed, cut, spliced or put in, as hypothesis chooses; they are read or refused."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bagwise.errors import InputError

byte = st.one_of(st.sampled_from([0, 1, 127, 128, 255]), st.integers(0, 255))
place = st.floats(0, 1, exclude_max=True)
change = st.one_of(
    st.tuples(st.just("set"), place, byte),
    st.tuples(st.just("cut"), place, byte),
    st.tuples(st.just("fill"), place, byte),
    st.tuples(st.just("splice"), place, place),
    st.tuples(st.just("insert"), place, byte),
)


def mutated(content, changes):
    """The content after changes, each at a place given as a share of the length."""
    content = bytearray(content)
    for kind, where, what in changes:
        at = int(where * len(content))
        if kind == "set" and content:
            content[at] = what
        elif kind == "cut":
            del content[at:]
        elif kind == "fill":
            content[at : at + 8] = bytes([what]) * len(content[at : at + 8])
        elif kind == "splice":
            source = int(what * len(content))
            content[at : at + 12] = content[source : source + 16]
        elif kind == "insert":
            content[at:at] = bytes([what])
    return bytes(content)


def check(path, read, **how):
    """Damage the file at a path again and again: it must be read, or refused by its name or its slide's."""
    whole, called = path.read_bytes(), path.name.partition(".")[0].removesuffix("_patches")
    read()

    @settings(deadline=None, database=None, suppress_health_check=list(HealthCheck), **how)
    @given(st.lists(change, min_size=1, max_size=6))
    def damage(changes):
        path.write_bytes(mutated(whole, changes))
        message = called
        try:
            read()
        except InputError as error:
            message = str(error)
        assert called in message or f"{path.parent} is not a folder of features" in message

    damage()
