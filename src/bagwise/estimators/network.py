"""BagClassifier: an encoder, a pooling and a head, trained end to end, with the scikit-learn interface."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import clone
from torch import Tensor, nn

from bagwise.arguments import choose_by_name
from bagwise.errors import InputError
from bagwise.estimators.base import BagEstimator, BagPredictions, ClassWeight, RandomState
from bagwise.estimators.calibration import Adjustment, learn_adjustment, restore_adjustment
from bagwise.estimators.network_builder import build_network, make_blank_bags
from bagwise.estimators.serialization import load_parameters
from bagwise.estimators.training_tasks import (
    LabelledBags,
    TrainingPlan,
    check_network_parameters,
    describe_fit,
    make_tasks,
    make_training_settings,
    split_validation,
)
from bagwise.estimators.validation import BagsLike, ValidationBags
from bagwise.nn import CONNECTIONS, Context, Purpose, random_integer
from bagwise.nn.pooling import Pooling
from bagwise.targets import Likelihood, Target
from bagwise.training import (
    Checkpoint,
    Epoch,
    InferenceResult,
    Trainer,
    TrainingProgress,
    TrainingProgressBar,
    TrainingTask,
    resolve_device,
    run_inference,
)
from bagwise.training.engines import choose_engine
from bagwise.training.streaming import resolve_memory


class BagClassifier(BagEstimator):
    """A neural network that classifies bags and weighs their instances (Ilse, Tomczak & Welling, ICML 2018).

        θ(X) = g( σ( f(x₁), …, f(x_K) ) )

    with encoder f, pooling σ and head g; an optional context between f and σ lets the instances of a bag see each
    other. In names, spaces, hyphens and underscores are equivalent.

    Parameters
    ----------
    pooling : str or Pooling, default="gated attention"
        A key of ``bagwise.nn.pooling.POOLINGS`` ("attention", "max", "mean", "log-sum-exp", "noisy-or", …) or a module.
    level : {"embedding", "instance"}, default="embedding"
        Whether to pool the embeddings and classify the bag, or to classify the instances and pool their scores.
    encoder : str or nn.Module, default="auto"
        "mlp", "lenet", "nucleus cnn", "projection", "identity", "auto" (lenet for images of at least 16×16 pixels,
        else mlp), or a module that maps (n, …) to (n, width).
    context : Context or None, default=None
        A module that is applied to the embeddings of each bag before they are pooled; None means no context.
    connections : {"deep supervision", "residual"} or None, default=None
        Connections from all layers of the mlp to the head; None means no such connections.
    attention_width : int, default=128
        Number of hidden units L of the attention.
    heads : int, default=1
        Number of parallel attention heads.
    epochs : int, default=100
        Number of passes over the training bags.
    batch_size : int, default=1
        Number of bags per training step (1 in the paper).
    optimizer : {"adam", "sgd", "nesterov"}, default="adam"
        Adam, SGD with ``momentum``, or SGD with Nesterov momentum.
    learning_rate : float, default=5e-4
        Initial learning rate.
    weight_decay : float, default=1e-4
        Factor of the L2 penalty.
    momentum : float, default=0.9
        Momentum of "sgd" and "nesterov".
    schedule : {"constant", "linear", "cosine"}, default="constant"
        Schedule of the learning rate.
    dropout : float or None, default=None
        Dropout probability; None means the default of the encoder (0.5 for mlp and nucleus cnn, 0 for lenet).
    augmentation : str, nn.Module or None, default=None
        Applied in training only: "histology" (stains, rotations, reflections), "nucleus" (the same on a shifted crop
        of 27 pixels), "affine" (grey images), "auto" (affine for grey images, histology for colour images, none for
        feature vectors), or a module.
    standardize : bool, default=True
        Standardise each feature (or channel) by the mean and standard deviation of the training instances.
    validation : float or None, default=None
        Share of the bags to hold out for choosing the epoch of minimum error + loss; None trains to the last epoch.
    patience : int or None, default=None
        Stop after this many epochs without improvement; requires validation bags. None trains all epochs.
    averaging : float, default=0.0
        Share of the epochs, counted from the last, whose parameters are averaged; cannot be used with validation.
    most_instances : int or None, default=None
        Maximum number of instances per bag in a training step, sampled anew in each; predictions use whole bags.
    class_weight : {"balanced"}, dict or None, default=None
        Weight of each class in the loss; None gives all classes a weight of one.
    temperature : bool, default=False
        Whether to calibrate the probabilities by a temperature learned from the validation bags.
    threshold : bool, default=False
        Whether to learn the decision threshold between two classes from the validation bags, instead of 0.5.
    precision : {"full", "mixed"}, default="full"
        "mixed" computes the encoder in bfloat16 in training; CUDA devices only.
    engine : {"auto", "torch", "fused"}, default="auto"
        "fused" trains with compiled kernels for features and images (needs Numba); "auto" selects the faster engine.
    memory : int or str, default="auto"
        Memory limit: bytes, a size such as "2GB", or "auto" for a quarter of the device's memory. Larger training
        batches are processed in chunks, with the same gradients; bags that a context needs whole are rejected.
    device : str or torch.device, default="auto"
        "cpu", "cuda", "mps", or "auto" for a CUDA device if available, else the CPU.
    random_state : int, RandomState or None, default=None
        Random seed; with an int, fits on the same machine with the same number of threads are bit-identical.
    verbose : bool, default=False
        Whether to show a progress bar.

    Attributes
    ----------
    model_ : BagModel
        The trained network.
    history_ : list of Epoch
        Losses, errors and learning rate of each epoch.
    engine_ : str
        The training engine that was used.
    adjustment_ : Adjustment
        The learned temperature and threshold.

    Examples
    --------
    >>> from bagwise.data.datasets import load_dataset
    >>> bags = load_dataset("needles", n_bags=60)
    >>> model = BagClassifier(epochs=3, random_state=0).fit(bags, bags.labels)
    >>> model.predict_proba(bags).shape, model.weigh(bags).shape == (bags.n_instances,)
    ((60, 2), True)
    """

    supports_checkpoint = True

    def __init__(
        self,
        pooling: str | Pooling = "gated attention",
        level: Literal["embedding", "instance"] = "embedding",
        encoder: str | nn.Module = "auto",
        context: Context | None = None,
        connections: Literal["deep supervision", "residual"] | None = None,
        attention_width: int = 128,
        heads: int = 1,
        epochs: int = 100,
        batch_size: int = 1,
        optimizer: Literal["adam", "sgd", "nesterov"] = "adam",
        learning_rate: float = 5e-4,
        weight_decay: float = 1e-4,
        momentum: float = 0.9,
        schedule: Literal["constant", "linear", "cosine"] = "constant",
        dropout: float | None = None,
        augmentation: Literal["auto", "histology", "nucleus", "affine"] | nn.Module | None = None,
        standardize: bool = True,
        validation: float | None = None,
        patience: int | None = None,
        averaging: float = 0.0,
        most_instances: int | None = None,
        class_weight: ClassWeight = None,
        temperature: bool = False,
        threshold: bool = False,
        precision: Literal["full", "mixed"] = "full",
        engine: Literal["auto", "torch", "fused"] = "auto",
        memory: int | str = "auto",
        device: str | torch.device = "auto",
        random_state: RandomState = None,
        verbose: bool = False,
    ) -> None:
        self.pooling = pooling
        self.level = level
        self.encoder = encoder
        self.context = context
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
        X: BagsLike,
        y: npt.ArrayLike | None = None,
        *,
        validation: ValidationBags | None = None,
        checkpoint: str | Path | None = None,
        progress: TrainingProgress | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> "BagClassifier":
        """Train the network.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Training bags.
        y : array-like of shape (n_bags,)
            One label per bag.
        validation : tuple of (bags, labels) or None, default=None
            Bags for choosing the best epoch, instead of a share of the training bags.
        checkpoint : str, Path or None, default=None
            File to which the training state is written after each epoch; if it exists, training resumes from it.
        progress : TrainingProgress or None, default=None
            Receives the progress; None shows a progress bar if ``verbose`` is set.
        should_stop : callable, default=lambda: False
            Called between steps; if it returns True, training stops and raises ``TrainingStopped``.

        Returns
        -------
        BagClassifier
            The estimator itself.
        """
        if checkpoint is not None and self.random_state is None:
            raise InputError(
                "a checkpoint needs random_state, so that a resumed training uses the same random numbers; set it, "
                "e.g. random_state=0"
            )
        plan = self._plan(X, y, validation)
        self.model_, device = build_network(self, plan.training.bags), resolve_device(self.device)
        choice = choose_engine(self.engine, self.model_, self.likelihood_, plan.training, plan.settings, device)
        self.engine_ = choice.name
        progress = progress or (TrainingProgressBar() if self.verbose else TrainingProgress())
        progress.engine(choice)
        self.history_ = Trainer(
            self.model_,
            self.likelihood_,
            plan.training,
            plan.settings,
            validation=plan.validation,
            device=device,
            engine=choice.build,
            memory=resolve_memory(self.memory, device),
            checkpoint=None if checkpoint is None else Checkpoint(Path(checkpoint), describe_fit(self, plan)),
            progress=progress,
            should_stop=should_stop,
        ).run()
        self.adjustment_ = self._learn_adjustment(plan.validation)
        return self

    def check(self, X: BagsLike, y: npt.ArrayLike | None, validation: ValidationBags | None = None) -> None:
        """Raise ``InputError`` if ``fit`` would reject the parameters or the input; nothing is trained or changed."""
        trial = clone(self)
        plan = trial._plan(X, y, validation)
        model, device = build_network(trial, plan.training.bags[:1]), resolve_device(trial.device)
        choose_engine(trial.engine, model, trial.likelihood_, plan.training, plan.settings, device)

    def decision_function(self, X: BagsLike) -> np.ndarray:
        """Compute scores of shape (n_bags,) for two classes, else (n_bags, n_classes)."""
        scores = self._infer(X).scores
        return self.likelihood_.decisions(scores)

    def predict_proba(self, X: BagsLike) -> np.ndarray:
        return self._compute_probabilities(self._infer(X).scores)

    def weigh(self, X: BagsLike) -> np.ndarray:
        return self._infer(X).weights.mean(axis=1)

    def score_instances(self, X: BagsLike) -> np.ndarray:
        """Score each instance as a bag of its own: (n_instances,) for two classes, else (n_instances, n_classes)."""
        return self.decision_function(self._check_bags(X).singletons())

    def predict_with_weights(self, X: BagsLike) -> BagPredictions:
        inferred = self._infer(X)
        return BagPredictions(self._compute_probabilities(inferred.scores), inferred.weights.mean(axis=1))

    @property
    def decision_threshold(self) -> float:
        return self.adjustment_.threshold

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        metadata = {
            "history": [record.as_dict() for record in self.history_],
            "adjustment": asdict(self.adjustment_),
            "engine": self.engine_,
        }
        return metadata, self.model_.state_dict()

    def _restore(self, metadata: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        self.history_ = [Epoch(**record) for record in metadata["history"]]
        self.adjustment_ = restore_adjustment(metadata["adjustment"])
        self.engine_ = metadata["engine"]
        self.model_ = build_network(self, make_blank_bags(self.instance_shape_))
        load_parameters(self.model_, tensors)
        self.model_.eval()

    def _plan(self, X: BagsLike, y: npt.ArrayLike | None, validation: ValidationBags | None) -> TrainingPlan:
        bags, targets = self._check_training_input(X, y)
        check_network_parameters(self, self.target_, validation is not None)
        return TrainingPlan(make_training_settings(self), *self._make_tasks(LabelledBags(bags, targets), validation))

    def _make_tasks(
        self, training: LabelledBags, validation: ValidationBags | None
    ) -> tuple[TrainingTask, TrainingTask | None]:
        held_out = None
        if validation is not None:
            bags = self._check_bags(validation[0])
            held_out = LabelledBags(bags, self.target_.encode(validation[1], len(bags)))
        elif self.validation is not None:
            training, held_out = split_validation(training, self.validation, random_integer(self.seed_, Purpose.SPLIT))
        return make_tasks(training, held_out, self.classes_, self.class_weight)

    def _make_likelihood(self, target: Target) -> Likelihood:
        likelihood = super()._make_likelihood(target)
        if self.connections is None:
            return likelihood
        return choose_by_name(self.connections, CONNECTIONS, "connections").likelihood(likelihood)

    def _infer(self, X: BagsLike) -> InferenceResult:
        bags = self._check_bags(X)
        device = resolve_device(self.device)
        return run_inference(self.model_.to(device), bags, device, memory=resolve_memory(self.memory, device))

    def _compute_probabilities(self, scores: np.ndarray) -> np.ndarray:
        return self.adjustment_.apply(self.likelihood_.probabilities(torch.from_numpy(scores).double()).numpy())

    def _learn_adjustment(self, held_out: TrainingTask | None) -> Adjustment:
        """Learn the requested temperature and threshold from the validation bags."""
        self.adjustment_ = Adjustment()  # so that predict_proba returns the unadjusted probabilities
        if held_out is None or not (self.temperature or self.threshold):
            return self.adjustment_
        probabilities = self.predict_proba(held_out.bags)
        return learn_adjustment(probabilities, held_out.targets, temperature=self.temperature, threshold=self.threshold)
