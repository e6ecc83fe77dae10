"""Parameters of ``BagClassifier`` that go together, by name.

bagwise    Gated attention on augmented images, its weights averaged over the second half of the epochs: with few bags
           the steadiest recipe that was found, on bags that no test bag was among. Nothing has to be held out.
"""

from typing import Any

from bagwise.names import choose

PRESETS: dict[str, dict[str, Any]] = {
    "bagwise": {"pooling": "gated attention", "augmentation": "auto", "averaging": 0.5},
}


def preset(name: str) -> dict[str, Any]:
    """The parameters of that name, to be changed at will.

    >>> from bagwise import BagClassifier
    >>> BagClassifier(**preset("bagwise"), epochs=80)
    BagClassifier(augmentation='auto', averaging=0.5, epochs=80)
    """
    return dict(choose(name, PRESETS, "preset"))
