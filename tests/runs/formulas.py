"""Published models in NumPy and float64, computed from their own equations; and files with their weights."""

import numpy as np
import torch


def sigmoid(values):
    return 1 / (1 + np.exp(-values))


def softmax(values):
    powers = np.exp(values - values.max())
    return powers / powers.sum()


def layer(generator, width, outputs, *kernel):
    """Random weights and biases of a linear or, with a kernel size, convolutional layer."""
    shape = (outputs, width, *kernel)
    return {
        "weight": generator.normal(0, (width * np.prod(kernel or (1,))) ** -0.5, shape),
        "bias": generator.normal(0, 0.3, outputs),
    }


def named(layers, prefix=""):
    """The layers as a state dictionary."""
    return {
        f"{prefix}{name}.{kind}": torch.tensor(value, dtype=torch.float32)
        for name, tensors in layers.items()
        for kind, value in tensors.items()
    }


def linear(values, tensors):
    return values @ tensors["weight"].T + tensors["bias"]


def clam_layers(seed=0, *, gated=True, dropout=True, n_features=24, n_classes=2):
    """The layers of CLAM_SB as its code names them."""
    generator, index = np.random.default_rng(seed), 3 if dropout else 2
    layers = {"attention_net.0": layer(generator, n_features, 512), "classifiers": layer(generator, 512, n_classes)}
    if gated:
        parts = {"attention_a.0": (512, 256), "attention_b.0": (512, 256), "attention_c": (256, 1)}
    else:
        parts = {"module.0": (512, 256), f"module.{index}": (256, 1)}
    layers |= {f"attention_net.{index}.{name}": layer(generator, *sizes) for name, sizes in parts.items()}
    return layers | {f"instance_classifiers.{number}": layer(generator, 512, 2) for number in range(n_classes)}


def clam(layers, bag):
    """Probabilities and weights."""
    by_name = {
        name.split(".", 2)[-1] if name.startswith("attention_net.") else name: tensors
        for name, tensors in layers.items()
    }
    hidden = np.maximum(linear(bag, layers["attention_net.0"]), 0)
    if "attention_c" in by_name:
        gate = np.tanh(linear(hidden, by_name["attention_a.0"])) * sigmoid(linear(hidden, by_name["attention_b.0"]))
        scores = linear(gate, by_name["attention_c"])
    else:
        last = by_name.get("module.3", by_name.get("module.2"))
        scores = linear(np.tanh(linear(hidden, by_name["module.0"])), last)
    weights = softmax(scores[:, 0])
    return softmax(linear(weights @ hidden, layers["classifiers"])), weights


def digit_layers(seed=0, *, gated=False, branches=1, shift=0, last="attention_w"):
    """The layers of AttentionDeepMIL; dropout before a layer shifts its index."""
    generator = np.random.default_rng(seed)
    layers = {
        "feature_extractor_part1.0": layer(generator, 1, 20, 5, 5),
        f"feature_extractor_part1.{3 + shift}": layer(generator, 20, 50, 5, 5),
        f"feature_extractor_part2.{shift}": layer(generator, 800, 500),
        f"classifier.{shift}": layer(generator, 500 * branches, 1),
    }
    if gated:
        attention = {"attention_V.0": (500, 128), "attention_U.0": (500, 128), last: (128, branches)}
    else:
        attention = {"attention.0": (500, 128), f"attention.{2 + shift}": (128, branches)}
    return layers | {name: layer(generator, *sizes) for name, sizes in attention.items()}


def digit_features(layers, pixels):
    values = ((pixels / 255 - 0.1307) / 0.3081)[:, None]
    for tensors in [found for name, found in layers.items() if name.startswith("feature_extractor_part1")]:
        windows = np.lib.stride_tricks.sliding_window_view(values, (5, 5), axis=(2, 3))
        values = np.einsum("nchwij,ocij->nohw", windows, tensors["weight"]) + tensors["bias"][:, None, None]
        values = np.maximum(values, 0)
        rows, columns = values.shape[2] // 2, values.shape[3] // 2
        values = values.reshape(*values.shape[:2], rows, 2, columns, 2).max(axis=(3, 5))
    second = next(found for name, found in layers.items() if name.startswith("feature_extractor_part2"))
    return np.maximum(linear(values.reshape(len(values), -1), second), 0)


def digits(layers, pixels):
    """The probability of a nine, and the weights of each branch."""
    hidden = digit_features(layers, pixels)
    attention = [found for name, found in layers.items() if name.startswith("attention")]
    if len(attention) == 3:
        scores = linear(np.tanh(linear(hidden, attention[0])) * sigmoid(linear(hidden, attention[1])), attention[2])
    else:
        scores = linear(np.tanh(linear(hidden, attention[0])), attention[1])
    weights = np.stack([softmax(column) for column in scores.T])
    classifier = next(found for name, found in layers.items() if name.startswith("classifier"))
    return sigmoid(linear((weights @ hidden).reshape(-1), classifier))[0], weights
