"""BagClassifier: the network that classifies bags, with the scikit-learn interface."""

from typing import Any, Literal

import torch
from torch import nn

from bagwise.estimators.base import ClassWeight, RandomState
from bagwise.estimators.class_predictor import ClassPredictor
from bagwise.estimators.network import BagNetwork
from bagwise.nn import Context
from bagwise.nn.pooling import Pooling
from bagwise.targets import AUTO


class BagClassifier(ClassPredictor, BagNetwork):
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
    epochs : int or "auto", default="auto"
        Number of passes over the training bags. "auto" means 100, or 40 with folds and more than 200 bags.
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
    scaling : {"clipped", "standard", "none"}, default="clipped"
        "standard" scales each feature (or channel) to mean 0 and standard deviation 1 in the training instances;
        "clipped" also clips features to the range of the training instances; "none" leaves them unchanged.
    validation : float, int, "auto" or None, default="auto"
        Share of the bags to hold out for choosing the epoch of minimum error + loss; or number of folds: one network
        per fold is trained without the bags of the fold, and the scores of the networks are averaged; or None to use
        all bags for one network. "auto" means 0.2 from 500 bags (of which 100 in each class) on, otherwise 5 folds.
        Bags of a group stay together.
    patience : int, "auto" or None, default="auto"
        Stop after this many epochs without improvement on a share of held-out bags; None trains all epochs. "auto"
        means 20, or None without such a share.
    averaging : float, default=0.0
        Share of the epochs, counted from the last, whose parameters are averaged; cannot be used with a share of
        held-out bags.
    most_instances : int or None, default=None
        Maximum number of instances per bag in a training step, sampled anew in each; predictions use whole bags.
    target : str, default="auto"
        Kind of the target: "classes", another registered kind, or "auto" for the kind that accepts the labels.
    positive : object, default=None
        The positive one of two classes, to which threshold, precision, recall and F-score refer. None means the last
        class in increasing order, or the obvious one of a common pair (active, positive, tumour, yes, true).
    class_weight : {"balanced"}, dict or None, default=None
        Weight of each class in the loss; None gives all classes a weight of one.
    calibration : bool or "auto", default="auto"
        Whether to calibrate the probabilities: slope and offset of the scores are learned from the held-out bags.
        "auto" calibrates if bags are held out.
    threshold : bool, default=False
        Whether to learn the decision threshold of the positive class from the held-out bags, instead of 0.5.
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
        The trained network, or the average of one network per fold.
    history_ : list of Epoch
        Losses, errors and learning rate of each epoch; with folds, averages over the networks.
    engine_ : str
        The training engine that was used.
    calibration_ : Calibration
        Slope and offset that make log odds of the scores; 1 and 0 without calibration.
    held_out_loss_ : HeldOutLoss or None
        Log loss of the held-out bags, of the network and of the class shares; None without calibration. ``fit`` warns
        (``MajorityWarning``) if the class shares have the lower one.
    threshold_ : float
        The learned decision threshold, or 0.5.

    Examples
    --------
    >>> from bagwise.data.datasets import load_dataset
    >>> bags = load_dataset("needles", n_bags=60)
    >>> model = BagClassifier(epochs=3, random_state=0).fit(bags, bags.labels)
    >>> model.predict_proba(bags).shape, model.weigh(bags).shape == (bags.n_instances,)
    ((60, 2), True)
    """

    target: Any = AUTO

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
        target: str = "auto",
        positive: Any = None,
        class_weight: ClassWeight = None,
        calibration: bool | Literal["auto"] = "auto",
        threshold: bool = False,
        precision: Literal["full", "mixed"] = "full",
        engine: Literal["auto", "torch", "fused"] = "auto",
        memory: int | str = "auto",
        device: str | torch.device = "auto",
        random_state: RandomState = None,
        verbose: bool = False,
    ) -> None:
        super().__init__(
            pooling=pooling,
            level=level,
            encoder=encoder,
            context=context,
            connections=connections,
            attention_width=attention_width,
            heads=heads,
            epochs=epochs,
            batch_size=batch_size,
            optimizer=optimizer,
            learning_rate=learning_rate,
            weight_decay=weight_decay,
            momentum=momentum,
            schedule=schedule,
            dropout=dropout,
            augmentation=augmentation,
            scaling=scaling,
            validation=validation,
            patience=patience,
            averaging=averaging,
            most_instances=most_instances,
            precision=precision,
            engine=engine,
            memory=memory,
            device=device,
            random_state=random_state,
            verbose=verbose,
        )
        self.target = target
        self.positive = positive
        self.class_weight = class_weight
        self.calibration = calibration
        self.threshold = threshold
