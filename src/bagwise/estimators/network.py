"""BagClassifier: encoder, pooling and classifier trained end to end, behind scikit-learn's surface."""

import copy
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.base import clone
from torch import Tensor, nn

from bagwise import models, randomness
from bagwise.augmentation import augmented_shape, build_augmentation
from bagwise.bags import Bags, fingerprint
from bagwise.connections import CONNECTIONS
from bagwise.errors import InputError
from bagwise.estimators import saving
from bagwise.estimators.adjustment import Adjustment, check_threshold, learn_adjustment, restored_adjustment
from bagwise.estimators.contract import BagEstimator, Judged
from bagwise.estimators.taking import known_class_numbers
from bagwise.estimators.tasks import Known, part, tasks
from bagwise.inputs import Prepare, scaling
from bagwise.likelihoods import Likelihood
from bagwise.names import choose
from bagwise.pooling import Settings
from bagwise.quantities import real_number, whole_number, yes_or_no
from bagwise.randomness import Purpose
from bagwise.training import Checkpoint, Progress, ProgressBar, Task, Trainer, TrainingSettings, infer
from bagwise.training.devices import resolve
from bagwise.training.engines import choose_engine
from bagwise.training.history import Epoch
from bagwise.training.inference import Inferred
from bagwise.training.streaming import granted


class BagClassifier(BagEstimator):
    """A neural network that classifies bags and weighs their instances.

    pooling : name ("gated attention", "attention", "max", "mean", "log-sum-exp", "noisy-or" …) or a ``Pooling``
    level : "embedding" (pool, then classify) or "instance" (classify, then pool)
    encoder : "auto", "mlp", "lenet", "nucleus cnn", "projection", "identity", or a module from (n, …) to (n, width)
    connections : None, or past the last layer of the mlp: "deep supervision" or "residual"
    attention_width : L, the hidden units of the attention
    heads : attentions side by side
    epochs, batch_size : passes over the bags; bags a step (1 in the paper)
    optimizer, learning_rate, weight_decay, momentum : "adam", or "sgd" or "nesterov" with momentum
    schedule : how the learning rate falls: "constant", "linear" or "cosine"
    dropout : probability; None leaves the encoder's own (0.5 for mlp and nucleus cnn, 0 for lenet)
    augmentation : None, "histology" (stains, turns, mirrors), "nucleus" (the same of a shifted crop of 27 pixels),
        "affine" (grey images), "auto" (affine for grey images, histology for coloured ones, none for vectors), or a
        module; acts in training
    standardize : learn mean and deviation of each feature (or channel) from the training instances
    validation : share of the bags held out to choose the best epoch by error + loss; None trains to the last epoch
    patience : stop when the best epoch lies so many epochs back (needs validation)
    averaging : share of the epochs, the last ones, whose weights are averaged (instead of validation); 0 for none
    most_instances : of a bag in a training step, drawn anew each time; None takes all; predictions read whole bags
    class_weight : None, "balanced", or a factor for each class
    temperature, threshold : whether probabilities are calibrated, and the decision between two classes is taken at a
        learned probability; both are learned from the validation bags
    engine : "torch", "fused" (compiled kernels for features and images, needs Numba), or "auto": the faster one
    precision : "full", or "mixed": in training the encoder computes in bfloat16; on CUDA devices only
    memory : what a training step may hold of its instances: "2GB", a number of bytes, or "auto", a quarter of the
        device's memory; larger batches are read in pieces, twice, with the same gradients (see ``training.streaming``)
    device : "auto", "cpu", "cuda", "mps"
    random_state : a whole number makes every run the same, to the bit (same machine and number of threads)
    verbose : show a progress bar

    As scikit-learn asks, the constructor stores whatever it is given; ``fit`` checks it.

    >>> from bagwise.datasets import load_dataset
    >>> bags = load_dataset("needles", n_bags=60)
    >>> model = BagClassifier(epochs=3, random_state=0).fit(bags, bags.labels)
    >>> model.predict_proba(bags).shape, model.weigh(bags).shape == (bags.n_instances,)
    ((60, 2), True)
    """

    def __init__(
        self,
        pooling: Any = "gated attention",
        level: Any = "embedding",
        encoder: Any = "auto",
        connections: Any = None,
        attention_width: Any = 128,
        heads: Any = 1,
        epochs: Any = 100,
        batch_size: Any = 1,
        optimizer: Any = "adam",
        learning_rate: Any = 5e-4,
        weight_decay: Any = 1e-4,
        momentum: Any = 0.9,
        schedule: Any = "constant",
        dropout: Any = None,
        augmentation: Any = None,
        standardize: Any = True,
        validation: Any = None,
        patience: Any = None,
        averaging: Any = 0.0,
        most_instances: Any = None,
        class_weight: Any = None,
        temperature: Any = False,
        threshold: Any = False,
        precision: Any = "full",
        engine: Any = "auto",
        memory: Any = "auto",
        device: Any = "auto",
        random_state: Any = None,
        verbose: Any = False,
    ) -> None:
        self.pooling = pooling
        self.level = level
        self.encoder = encoder
        self.connections = connections
        self.attention_width = attention_width
        self.heads = heads
        self.epochs = epochs
        self.batch_size = batch_size
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.momentum = momentum
        self.schedule = schedule
        self.dropout = dropout
        self.augmentation = augmentation
        self.standardize = standardize
        self.validation = validation
        self.patience = patience
        self.averaging = averaging
        self.most_instances = most_instances
        self.class_weight = class_weight
        self.temperature = temperature
        self.threshold = threshold
        self.precision = precision
        self.engine = engine
        self.memory = memory
        self.device = device
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        validation: tuple[Any, Any] | None = None,
        checkpoint: str | Path | None = None,
        progress: Progress | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> "BagClassifier":
        """Learn from bags and their labels.

        validation : (bags, labels) to choose the best epoch by, instead of a share of the training bags
        checkpoint : file in which the run's state is kept after each epoch; if it exists, training goes on from it
        """
        if checkpoint is not None and self.random_state is None:
            raise InputError("a run with a checkpoint needs random_state, so that it can go on with the same draws")
        settings, training, held = self._plan(X, y, validation)
        self.model_, device = self._build(training.bags), resolve(self.device)
        choice = choose_engine(self.engine, self.model_, self.likelihood_, training, settings, device)
        self.engine_ = choice.name
        kept = None
        if checkpoint is not None:
            kept = Checkpoint(Path(checkpoint), self._identity(settings, training, held))
        progress = progress or (ProgressBar() if self.verbose else Progress())
        progress.engine(choice)
        self.history_ = Trainer(
            self.model_,
            self.likelihood_,
            training,
            settings,
            validation=held,
            device=device,
            engine=choice.build,
            memory=granted(self.memory, device),
            checkpoint=kept,
            progress=progress,
            should_stop=should_stop,
        ).run()
        self.adjustment_ = self._learn_adjustment(held)
        return self

    def check(self, X: Any, y: Any, validation: tuple[Any, Any] | None = None) -> None:
        """Refuse impossible parameters for these bags, without training; the estimator stays as it is."""
        trial = clone(self)
        settings, training, _ = trial._plan(X, y, validation)
        model = trial._build(training.bags[:1])
        choose_engine(trial.engine, model, trial.likelihood_, training, settings, resolve(trial.device))

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores, before the link: (n_bags,) for two classes, else (n_bags, n_classes)."""
        scores = self._infer(X).scores
        return self.likelihood_.decisions(scores)

    def predict_proba(self, X: Any) -> np.ndarray:
        return self._probabilities(self._infer(X).scores)

    def weigh(self, X: Any) -> np.ndarray:
        return self._infer(X).weights.mean(axis=1)

    def score_instances(self, X: Any) -> np.ndarray:
        """Each instance's own score: what a bag of that instance alone would get."""
        bags = self._known_bags(X)
        alone = Bags.trusted(instances=bags.instances, offsets=np.arange(bags.n_instances + 1))
        scores = self._infer(alone).scores
        return self.likelihood_.decisions(scores)

    def judge(self, X: Any) -> Judged:
        """Probabilities and weights from a single pass."""
        inferred = self._infer(X)
        return Judged(self._probabilities(inferred.scores), inferred.weights.mean(axis=1))

    @property
    def decision_threshold(self) -> float:
        return self.adjustment_.threshold

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        facts = {
            "history": [record.as_dict() for record in self.history_],
            "adjustment": asdict(self.adjustment_),
            "engine": self.engine_,
        }
        return facts, self.model_.state_dict()

    def _restore(self, facts: dict[str, Any], numbers: dict[str, Tensor]) -> None:
        self.history_ = [Epoch(**record) for record in facts["history"]]
        self.adjustment_ = restored_adjustment(facts["adjustment"])
        self.engine_ = facts["engine"]
        self.model_ = self._build(_blank(self.instance_shape_))
        saving.fill(self.model_, numbers)
        self.model_.eval()

    def _infer(self, X: Any) -> Inferred:
        bags = self._known_bags(X)
        device = resolve(self.device)
        return infer(self.model_.to(device), bags, device)

    def _probabilities(self, scores: np.ndarray) -> np.ndarray:
        probabilities = self.likelihood_.probabilities(torch.from_numpy(scores).double()).numpy()
        return self.adjustment_.apply(probabilities)

    def _learn_adjustment(self, held: Task | None) -> Adjustment:
        """Temperature and threshold by the validation bags, where they are asked for."""
        if held is None or not (self.temperature or self.threshold):
            return Adjustment()
        self.adjustment_ = Adjustment()  # the probabilities as they are
        return learn_adjustment(
            self.predict_proba(held.bags), held.targets, temperature=self.temperature, threshold=self.threshold
        )

    def _plan(self, X: Any, y: Any, validation: tuple[Any, Any] | None) -> tuple[TrainingSettings, Task, Task | None]:
        """How to train, on which bags, and by which to choose the best epoch."""
        bags, targets = self._training_bags(X, y)
        self._check_parameters(validation is not None)
        names = TrainingSettings.__dataclass_fields__.keys() - {"seed"}
        settings = TrainingSettings(seed=self.seed_, **{name: getattr(self, name) for name in names})
        training, held = self._tasks(bags, targets, validation)
        return settings, training, held

    def _likelihood(self, n_classes: int) -> Likelihood:
        likelihood = super()._likelihood(n_classes)
        if self.connections is None:
            return likelihood
        return choose(self.connections, CONNECTIONS, "connections").likelihood(likelihood)

    def _check_parameters(self, validated: bool) -> None:
        """Refuse what neither the training settings nor the model's parts would notice."""
        whole_number("attention_width", self.attention_width, least=1)
        whole_number("heads", self.heads, least=1)
        granted(self.memory, torch.device("cpu"))
        for name in ("standardize", "temperature", "threshold"):
            yes_or_no(name, getattr(self, name))
        check_threshold(self.threshold, len(self.classes_))
        if self.averaging and (validated or self.validation is not None):
            raise InputError("averaged weights and the best epoch by validation are two ends of a run; choose one")
        if self.validation is not None:
            real_number("validation", self.validation, above=0, below=1)
        elif self.patience is not None and not validated:
            raise InputError("patience needs validation bags; set validation, e.g. validation=0.2")
        elif (self.temperature or self.threshold) and not validated:
            word = "temperature" if self.temperature else "threshold"
            raise InputError(f"a {word} is learned from validation bags; set validation, e.g. validation=0.2")

    def _tasks(self, bags: Bags, targets: np.ndarray, validation: tuple[Any, Any] | None) -> tuple[Task, Task | None]:
        training, held = Known(bags, targets), None
        if validation is not None:
            others = self._known_bags(validation[0])
            held = Known(others, known_class_numbers(validation[1], self.classes_, len(others)))
        elif self.validation is not None:
            training, held = part(training, self.validation, randomness.integer(self.seed_, Purpose.SPLIT))
        return tasks(training, held, self.classes_, self.class_weight)

    def _build(self, bags: Bags) -> models.BagModel:
        """The untrained network for these bags; the caller's modules are copied, so that they stay as they were."""
        built = build_augmentation(copy.deepcopy(self.augmentation), bags.instance_shape)
        augmentation = [] if built is None else [built]
        shape = augmented_shape(nn.Sequential(*augmentation), bags.instance_shape)
        generator = torch.Generator().manual_seed(randomness.integer(self.seed_, Purpose.INITIALIZATION))
        prepare = Prepare(bags.instance_shape, scaling(bags.instances, self.standardize))
        with torch.random.fork_rng(devices=[]):
            torch.default_generator.manual_seed(randomness.integer(self.seed_, Purpose.INITIALIZATION, 1))
            model = models.assemble(
                shape,
                self.likelihood_,
                encoder=copy.deepcopy(self.encoder),
                pooling=copy.deepcopy(self.pooling),
                level=self.level,
                connections=self.connections,
                dropout=self.dropout,
                settings=Settings(self.attention_width, self.heads),
                generator=generator,
            )
        model.encoder = nn.Sequential(*augmentation, prepare, model.encoder)
        # convolutions on the CPU are then nearly twice as fast
        return model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def _identity(self, settings: TrainingSettings, training: Task, held: Task | None) -> dict[str, Any]:
        """What a checkpoint must share with the run that goes on from it."""
        names = ("level", "connections", "attention_width", "heads", "dropout", "standardize", "validation")
        tasks = {"training bags": training, "validation bags": held}
        return {
            **asdict(settings),
            **{name: saving.plain(getattr(self, name)) for name in names},
            "class_weight": saving.plain(self.class_weight),
            "engine": self.engine_,
            "encoder": saving.plain(self.encoder),
            "pooling": saving.plain(self.pooling),
            "augmentation": saving.plain(self.augmentation),
            **{name: None if task is None else fingerprint(task.bags, task.targets) for name, task in tasks.items()},
        }


def _blank(shape: tuple[int, ...]) -> Bags:
    """One bag of zeros, enough to lay out the network that saved numbers then fill."""
    return Bags(np.zeros((1, *shape), dtype=np.float32), np.array([0, 1]))
