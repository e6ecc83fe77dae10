"""The published models written out in NumPy, in float64, from their own equations; and files of their weights."""

import numpy as np
import torch


def sigmoid(values):
    return 1 / (1 + np.exp(-values))


def softmax(values):
    powers = np.exp(values - values.max())
    return powers / powers.sum()


def layer(draws, width, outputs, *kernel):
    shape = (outputs, width, *kernel)
    return {
        "weight": draws.normal(0, (width * np.prod(kernel or (1,))) ** -0.5, shape),
        "bias": draws.normal(0, 0.3, outputs),
    }


def named(layers, prefix=""):
    return {
        f"{prefix}{name}.{kind}": torch.tensor(value, dtype=torch.float32)
        for name, tensors in layers.items()
        for kind, value in tensors.items()
    }


def linear(values, tensors):
    return values @ tensors["weight"].T + tensors["bias"]


def clam_layers(seed=0, *, gated=True, dropout=True, n_features=24, n_classes=2):
    """The layers of CLAM_SB as its code names them."""
    draws, place = np.random.default_rng(seed), 3 if dropout else 2
    net = f"attention_net.{place}"
    layers = {"attention_net.0": layer(draws, n_features, 512), "classifiers": layer(draws, 512, n_classes)}
    if gated:
        parts = {"attention_a.0": (512, 256), "attention_b.0": (512, 256), "attention_c": (256, 1)}
    else:
        parts = {"module.0": (512, 256), f"module.{3 if dropout else 2}": (256, 1)}
    layers |= {f"{net}.{name}": layer(draws, *sizes) for name, sizes in parts.items()}
    return layers | {f"instance_classifiers.{number}": layer(draws, 512, 2) for number in range(n_classes)}


def clam(layers, bag):
    """Probabilities and weights."""
    found = {
        name.split(".", 2)[-1] if name.startswith("attention_net.") else name: each for name, each in layers.items()
    }
    hidden = np.maximum(linear(bag, layers["attention_net.0"]), 0)
    if "attention_c" in found:
        gate = np.tanh(linear(hidden, found["attention_a.0"])) * sigmoid(linear(hidden, found["attention_b.0"]))
        raw = linear(gate, found["attention_c"])
    else:
        last = found.get("module.3", found.get("module.2"))
        raw = linear(np.tanh(linear(hidden, found["module.0"])), last)
    weights = softmax(raw[:, 0])
    return softmax(linear(weights @ hidden, layers["classifiers"])), weights


def digit_layers(seed=0, *, gated=False, branches=1, shift=0, last="attention_w"):
    """The layers of AttentionDeepMIL; a dropout before a layer shifts its number."""
    draws = np.random.default_rng(seed)
    layers = {
        "feature_extractor_part1.0": layer(draws, 1, 20, 5, 5),
        f"feature_extractor_part1.{3 + shift}": layer(draws, 20, 50, 5, 5),
        f"feature_extractor_part2.{shift}": layer(draws, 800, 500),
        f"classifier.{shift}": layer(draws, 500 * branches, 1),
    }
    if gated:
        attention = {"attention_V.0": (500, 128), "attention_U.0": (500, 128), last: (128, branches)}
    else:
        attention = {"attention.0": (500, 128), f"attention.{2 + shift}": (128, branches)}
    return layers | {name: layer(draws, *sizes) for name, sizes in attention.items()}


def digit_features(layers, pixels):
    values = ((pixels / 255 - 0.1307) / 0.3081)[:, None]
    for tensors in [each for name, each in layers.items() if name.startswith("feature_extractor_part1")]:
        windows = np.lib.stride_tricks.sliding_window_view(values, (5, 5), axis=(2, 3))
        values = np.einsum("nchwij,ocij->nohw", windows, tensors["weight"]) + tensors["bias"][:, None, None]
        values = np.maximum(values, 0)
        rows, columns = values.shape[2] // 2, values.shape[3] // 2
        values = values.reshape(*values.shape[:2], rows, 2, columns, 2).max(axis=(3, 5))
    second = next(each for name, each in layers.items() if name.startswith("feature_extractor_part2"))
    return np.maximum(linear(values.reshape(len(values), -1), second), 0)


def digits(layers, pixels):
    """The probability of a nine, and the weights of each branch."""
    hidden = digit_features(layers, pixels)
    attention = [each for name, each in layers.items() if name.startswith("attention")]
    if len(attention) == 3:
        raw = linear(np.tanh(linear(hidden, attention[0])) * sigmoid(linear(hidden, attention[1])), attention[2])
    else:
        raw = linear(np.tanh(linear(hidden, attention[0])), attention[1])
    weights = np.stack([softmax(column) for column in raw.T])
    classifier = next(each for name, each in layers.items() if name.startswith("classifier"))
    return sigmoid(linear((weights @ hidden).reshape(-1), classifier))[0], weights
