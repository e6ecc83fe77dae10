"""The one implementation of networks: an encoder, a pooling and a head, trained end to end, for any kind of target."""

import warnings
from abc import abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import clone
from torch import Tensor, nn

from bagwise.arguments import canonicalize_name, check_whole_number, choose_by_name
from bagwise.bags import compute_signatures
from bagwise.errors import InputError
from bagwise.estimators.bag_embedder import BagEmbedder
from bagwise.estimators.base import BagEstimator, BagPredictions, RandomState
from bagwise.estimators.calibration import (
    Calibration,
    HeldOutLoss,
    HeldOutOutputs,
    HeldOutScores,
    calibrate_held_out,
    compute_class_shares,
    compute_held_out_loss,
    fit_calibration,
    make_identity,
    restore_calibration,
    restore_held_out_loss,
    warn_if_majority_wins,
)
from bagwise.estimators.network_builder import build_network, make_blank_bags
from bagwise.estimators.network_parameters import check_network_parameters
from bagwise.estimators.network_training import choose_plan_engine, train_networks
from bagwise.estimators.serialization import load_parameters
from bagwise.estimators.thresholds import learn_threshold, restore_threshold
from bagwise.estimators.training_tasks import (
    LabelledBags,
    TrainingPlan,
    describe_fit,
    plan_training,
)
from bagwise.estimators.validation import BagsLike, ValidationBags, check_sample_weight, check_validation_bags
from bagwise.nn import CONNECTIONS, BagModel, Context, average_models, list_members
from bagwise.nn.pooling import Pooling
from bagwise.targets import DEFAULT_THRESHOLD, Likelihood, Target
from bagwise.training import (
    Checkpoint,
    Epoch,
    InferenceResult,
    TrainingProgress,
    TrainingProgressBar,
    resolve_device,
    run_inference,
)
from bagwise.training.streaming import resolve_memory


class BagNetwork(BagEmbedder, BagEstimator):
    """Abstract base class of networks: an encoder, an optional context, a pooling and a head, trained end to end.

    Subclasses set the kind of their target, and may add parameters. The parameters are those of ``BagClassifier``,
    except for the ones that refer to classes.

    Attributes
    ----------
    model_ : BagModel
        The trained network.
    history_ : list of Epoch
        Losses, errors and learning rate of each epoch.
    engine_ : str
        The training engine that was used.
    calibration_ : Calibration
        Slope and offset that make log odds of the scores; 1 and 0 without calibration.
    held_out_loss_ : HeldOutLoss or None
        Log loss of the held-out bags, of the network and of the class shares; None without calibration.
    threshold_ : float
        The learned decision threshold, or 0.5.
    held_out_outputs_ : HeldOutOutputs or None
        Outputs of the held-out training bags; None if there are none. They are not saved.
    """

    supports_checkpoint = True
    calibration_: Calibration
    held_out_loss_: HeldOutLoss | None
    held_out_outputs_: HeldOutOutputs | None
    threshold_: float

    @property
    @abstractmethod
    def target(self) -> Any:
        """Kind of the target: an attribute of the subclass, or one of its constructor parameters."""

    class_weight: Any = None  # constructor parameters of networks that predict classes
    calibration: Any = False
    threshold: Any = False

    def __init__(
        self,
        pooling: str | Pooling = "gated attention",
        level: Literal["embedding", "instance"] = "embedding",
        encoder: str | nn.Module = "auto",
        context: Context | None = None,
        connections: Literal["deep supervision", "residual"] | None = None,
        attention_width: int = 128,
        heads: int = 1,
        epochs: int | Literal["auto"] = "auto",
        batch_size: int = 1,
        optimizer: Literal["adam", "sgd", "nesterov"] = "adam",
        learning_rate: float = 5e-4,
        weight_decay: float = 1e-4,
        momentum: float = 0.9,
        schedule: Literal["constant", "linear", "cosine"] = "constant",
        dropout: float | None = None,
        augmentation: Literal["auto", "histology", "nucleus", "affine"] | nn.Module | None = None,
        scaling: Literal["clipped", "standard", "none"] = "clipped",
        validation: float | int | Literal["auto"] | None = "auto",
        patience: int | Literal["auto"] | None = "auto",
        averaging: float = 0.0,
        most_instances: int | None = None,
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
        self.scaling = scaling
        self.validation = validation
        self.patience = patience
        self.averaging = averaging
        self.most_instances = most_instances
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
        sample_weight: npt.ArrayLike | None = None,
        *,
        validation: ValidationBags | None = None,
        checkpoint: str | Path | None = None,
        progress: TrainingProgress | None = None,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> "BagNetwork":
        """Train the network.

        Parameters
        ----------
        X : Bags, list of array-like, or array-like of shape (n_bags, n_features)
            Training bags.
        y : array-like of shape (n_bags,)
            One label per bag.
        sample_weight : array-like of shape (n_bags,) or None, default=None
            Factor of each bag on the loss, in addition to class weights; None means one. Standardisation and the
            classes are computed from all bags.
        validation : tuple of (bags, labels) or None, default=None
            Bags for choosing the best epoch and for the calibration, instead of those held out by ``validation``.
        checkpoint : str, Path or None, default=None
            File to which the training state is written after each epoch; if it exists, training resumes from it.
        progress : TrainingProgress or None, default=None
            Receives the progress; None shows a progress bar if ``verbose`` is set.
        should_stop : callable, default=lambda: False
            Called between steps; if it returns True, training stops and raises ``TrainingStopped``.

        Returns
        -------
        BagNetwork
            The estimator itself.
        """
        if checkpoint is not None and self.random_state is None:
            raise InputError(
                "a checkpoint needs random_state, so that a resumed training uses the same random numbers; set it, "
                "e.g. random_state=0"
            )
        plan = self._plan(X, y, validation, sample_weight)
        choice = choose_plan_engine(self, plan, resolve_device(self.device))
        trained = train_networks(
            self,
            plan,
            choice,
            None if checkpoint is None else Checkpoint(Path(checkpoint), describe_fit(self, plan, choice.name)),
            progress or (TrainingProgressBar() if self.verbose else TrainingProgress()),
            should_stop,
        )
        self.model_, self.history_, self.engine_ = trained.model, trained.history, choice.name
        self._calibrate(plan, trained.held_out)
        return self

    def check(self, X: BagsLike, y: npt.ArrayLike | None, validation: ValidationBags | None = None) -> None:
        """Raise ``InputError`` if ``fit`` would reject the parameters or the input; nothing is trained or changed."""
        trial = clone(self)
        plan = trial._plan(X, y, validation)
        choose_plan_engine(trial, plan, resolve_device(trial.device))

    def predict_outputs(self, X: BagsLike) -> np.ndarray:
        return self._compute_outputs(self._calibrate_scores(self._infer(X).scores))

    def weigh(self, X: BagsLike) -> np.ndarray:
        return self._infer(X).weights.mean(axis=1)

    def score_instances(self, X: BagsLike) -> np.ndarray:
        """Score each instance as a bag of its own: (n_instances,) for two classes, else (n_instances, n_scores)."""
        return self.target_.likelihood.decisions(self._compute_scores(self._check_bags(X).singletons()))

    def predict_with_weights(self, X: BagsLike) -> BagPredictions:
        inferred = self._infer(X)
        outputs = self._compute_outputs(self._calibrate_scores(inferred.scores))
        return BagPredictions(outputs, inferred.weights.mean(axis=1))

    @property
    def pools_embeddings(self) -> bool:
        """Whether the network pools embeddings, and not the scores of instances."""
        return canonicalize_name(self.level) == "embedding"

    @property
    def decision_threshold(self) -> float:
        return self.threshold_

    def _content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        metadata = {
            "history": [record.as_dict() for record in self.history_],
            "calibration": self.calibration_.to_json(),
            "held_out_loss": None if self.held_out_loss_ is None else list(self.held_out_loss_),
            "threshold": self.threshold_,
            "engine": self.engine_,
            "networks": len(list_members(self.model_)),
        }
        return metadata, self.model_.state_dict()

    def _restore(self, metadata: dict[str, Any], tensors: dict[str, Tensor]) -> None:
        self.history_ = [Epoch(**record) for record in metadata["history"]]
        self.calibration_ = restore_calibration(metadata["calibration"], self.target_.likelihood.n_scores)
        self.held_out_loss_ = restore_held_out_loss(metadata["held_out_loss"])
        self.held_out_outputs_ = None
        self.threshold_ = restore_threshold(metadata["threshold"])
        self.engine_ = metadata["engine"]
        count = check_whole_number("networks", metadata["networks"], minimum=1)
        if count > len(tensors):  # the file may be forged
            raise InputError(f"the saved model has {count} networks, but {len(tensors)} arrays; train again")
        blank = make_blank_bags(self.instance_shape_)
        self.model_ = average_models([build_network(self, blank, self.seed_) for _ in range(count)])
        load_parameters(self.model_, tensors)
        self.model_.eval()

    def _plan(
        self,
        X: BagsLike,
        y: npt.ArrayLike | None,
        validation: ValidationBags | None,
        sample_weight: npt.ArrayLike | None = None,
    ) -> TrainingPlan:
        bags, targets = self._check_training_input(X, y)
        known = LabelledBags(bags, targets, check_sample_weight(sample_weight, len(bags)))
        check_network_parameters(self, self.target_)
        held_out = None
        if validation is not None:
            held_out_bags, labels = check_validation_bags(validation)
            held_out_bags = self._check_bags(held_out_bags)
            signatures = compute_signatures(held_out_bags)
            if n_shared := int(np.isin(signatures, self.seen_).sum()):
                warnings.warn(
                    f"{n_shared} of the {len(held_out_bags)} validation bags are training bags, or have the same "
                    "instances, so the best epoch and the calibration are too optimistic; give other bags",
                    stacklevel=3,
                )
            self.seen_ = np.union1d(self.seen_, signatures)
            held_out = LabelledBags(held_out_bags, self.target_.encode(labels, len(held_out_bags)))
        return plan_training(self, known, held_out)

    def _make_likelihood(self, target: Target) -> Likelihood:
        likelihood = super()._make_likelihood(target)
        if self.connections is None:
            return likelihood
        return choose_by_name(self.connections, CONNECTIONS, "connections").likelihood(likelihood)

    def _infer(self, X: BagsLike, head: nn.Module | None = None) -> InferenceResult:
        """Run the network, with another head if one is given."""
        bags, device = self._check_bags(X), resolve_device(self.device)
        model = self.model_.to(device)
        if head is not None:
            model = BagModel(model.encoder, model.pooling, head, context=model.context).train(model.training)
        return run_inference(model, bags, device, memory=resolve_memory(self.memory, device))

    def _embed(self, X: BagsLike) -> np.ndarray:
        return self._infer(X, head=nn.Identity()).scores

    def _compute_scores(self, X: BagsLike) -> np.ndarray:
        return self._calibrate_scores(self._infer(X).scores)

    def _calibrate_scores(self, scores: np.ndarray) -> np.ndarray:
        """Compute the calibrated scores of the target from those of the network, in float64."""
        combined = self.likelihood_.combine_scores(torch.from_numpy(scores).double())
        return self.calibration_.apply(combined.numpy())

    def _compute_outputs(self, scores: np.ndarray) -> np.ndarray:
        return self.target_.likelihood.outputs(torch.from_numpy(scores)).numpy()

    def _calibrate(self, plan: TrainingPlan, held_out: HeldOutScores | None) -> None:
        """Learn the requested calibration and threshold from the held-out bags."""
        likelihood = self.target_.likelihood
        self.calibration_, self.threshold_ = make_identity(likelihood.n_scores), DEFAULT_THRESHOLD
        self.held_out_loss_, self.held_out_outputs_ = None, None
        if held_out is None:
            return
        targets, combined = plan.held_out_targets, held_out._replace(scores=self._calibrate_scores(held_out.scores))
        held_out_scores = combined.scores
        if plan.calibrates:
            shares, weights = compute_class_shares(*plan.known_targets), plan.held_out_weights
            self.calibration_ = fit_calibration(likelihood, combined.scores, targets, shares, weights)
            held_out_scores = calibrate_held_out(likelihood, combined, targets, shares, weights)
            self.held_out_loss_ = compute_held_out_loss(likelihood, held_out_scores, targets, shares, weights)
            warn_if_majority_wins(type(self).__name__, self.held_out_loss_, stacklevel=3)
        if plan.held_out_rows is not None:
            self.held_out_outputs_ = HeldOutOutputs(plan.held_out_rows, self._compute_outputs(held_out_scores))
        if self.threshold:
            outputs = self._compute_outputs(self.calibration_.apply(combined.scores))
            self.threshold_ = learn_threshold(self.target_, outputs, targets)
