"""The card of a model as a page of markdown."""

from bagwise.metric_names import METRICS
from bagwise.summary import Plain

MARKS = r"\`*_[]<>|"  # letters that mean something within a line of markdown


def card_page(card: Plain) -> str:
    """The card as markdown."""
    test, model, protocol = card["test"], card["model"], card["protocol"]
    intervals, classes = test["intervals"], "; ".join(map(_plain_text, card["classes"]))
    lines = [
        f"# {_plain_text(card['name'])}",
        "",
        f"Predicts for a bag of instances one of the classes: {classes}. Weighs the instances.",
        "",
        f"- data: {_plain_text(card['data']['name'])}{_options(card['data']['options'])}, "
        f"instances of {'×'.join(map(str, card['instance_shape']))}",
        f"- learned from: {_learned(card['training'])}",
        f"- model: {model['pooling']}, {model['level']} level, encoder {model['encoder']}, epochs: {model['epochs']}, "
        f"seed {card['parameters']['random_state']}",
        f"- protocol: {protocol['test']}; {_chosen(protocol)}{_shared(card['training'])}",
        f"- test bags: {test['n_bags']} with {test['n_instances']} instances "
        f"({', '.join(f'{_plain_text(label)}: {n}' for label, n in test['n_bags_by_class'].items())})",
        "",
        f"| metric | value | {intervals['level']:.0%} interval, by {intervals['by']} |",
        "| --- | --- | --- |",
        *(_line(name, found) for name, found in test["metrics"].items()),
        "",
        "## Use",
        "",
        f"Intended: {card['intended_use']}",
        "",
        f"Not intended: {card['not_intended']}",
        "",
        "## Origin",
        "",
        *(f"- {name} {version}" for name, version in _versions(card)),
        *(f"- SHA-256 of the {name.replace('_', ' ')}: `{value}`" for name, value in card["hashes"].items()),
        "",
    ]
    return "\n".join(lines)


def _options(options: Plain) -> str:
    return f" ({_plain_text(', '.join(f'{name}={value}' for name, value in options.items()))})" if options else ""


def _learned(training: Plain) -> str:
    words = [f"{training['n_training_bags']} bags"]
    if training["n_validation_bags"]:
        words.append(f"{training['n_validation_bags']} more for validation")
    if training["n_groups"]:
        words.append(f"of {training['n_groups']} groups (patients)")
    return ", ".join(words)


def _shared(training: Plain) -> str:
    """Whatever was asked for, what happened is said."""
    if not training["n_groups_in_test_too"]:
        return ""
    return f"; **{training['n_groups_in_test_too']} groups (patients) of the test bags were learned from: too good**"


def _chosen(protocol: Plain) -> str:
    if protocol["validated"]:
        return f"the epoch ({protocol['best_epoch']}) was chosen on validation bags, never on test bags"
    return "trained to the last epoch; nothing was chosen on test bags"


def _versions(card: Plain) -> list[tuple[str, str]]:
    environment = card["environment"]
    return [("bagwise", environment["bagwise"]), ("python", environment["python"]), *environment["packages"].items()]


def _line(name: str, found: Plain) -> str:
    value, bounds = found["value"], found["interval"]
    interval = "n/a" if bounds is None else f"{bounds[0]:.3f} – {bounds[1]:.3f}"
    return f"| {METRICS[name][0]} | {'n/a' if value is None else f'{value:.3f}'} | {interval} |"


def _plain_text(name: str) -> str:
    """A name that markdown shows as it is."""
    return "".join(f"\\{letter}" if letter in MARKS else letter for letter in " ".join(name.split()))
