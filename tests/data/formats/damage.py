"""Damaged files: hypothesis changes, removes, moves and inserts bytes; every result must be read or rejected."""

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


def mutate(content, changes):
    """Apply changes to the content; the position of each change is a fraction of the length."""
    content = bytearray(content)
    for kind, where, value in changes:
        offset = int(where * len(content))
        if kind == "set" and content:
            content[offset] = value
        elif kind == "cut":
            del content[offset:]
        elif kind == "fill":
            content[offset : offset + 8] = bytes([value]) * len(content[offset : offset + 8])
        elif kind == "splice":
            source = int(value * len(content))
            content[offset : offset + 12] = content[source : source + 16]
        elif kind == "insert":
            content[offset:offset] = bytes([value])
    return bytes(content)


def check(path, read, **options):
    """Damage a file repeatedly, and check that it is read, or rejected with its name or the name of its slide."""
    whole, name = path.read_bytes(), path.name.partition(".")[0].removesuffix("_patches")
    read()

    @settings(deadline=None, database=None, suppress_health_check=list(HealthCheck), **options)
    @given(st.lists(change, min_size=1, max_size=6))
    def read_damaged(changes):
        path.write_bytes(mutate(whole, changes))
        message = name
        try:
            read()
        except InputError as error:
            message = str(error)
        assert name in message or f"{path.parent} is not a folder of features" in message

    read_damaged()
