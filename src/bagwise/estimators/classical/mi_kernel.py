"""MI-Kernel (Gärtner, Flach, Kowalczyk & Smola 2002): a support vector machine whose kernel compares bags as sets."""

from typing import Any, Literal

import numpy as np

from bagwise.arguments import check_real_number
from bagwise.bags import Bags
from bagwise.estimators.base import RandomState
from bagwise.estimators.classical.bag_kernels import compute_norms
from bagwise.estimators.classical.base import ClassicalEstimator
from bagwise.estimators.classical.kernel_machine import Gamma, SupportBags, resolve_gamma


class SupportSets(SupportBags):
    """The fitted state of MI-Kernel, in which the masses give each bag unit norm in feature space."""

    @staticmethod
    def masses(bags: Bags, gamma: float) -> np.ndarray:
        """Compute 1 / norm of the bag of each instance, of shape (n_instances,)."""
        return (1 / compute_norms(bags, gamma))[bags.bag_indices]


class MIKernel(ClassicalEstimator):
    """MI-Kernel: a support vector machine with the normalised set kernel.

        k(X, X') = Σₐ Σ_b k(xₐ, x'_b)ᵖ / √( Σ k(xₐ, x_b)ᵖ · Σ k(x'ₐ, x'_b)ᵖ )        k(x, x') = exp(−γ ‖x − x'‖²)

    Every instance of one bag is compared with every instance of the other (Gärtner, Flach, Kowalczyk & Smola,
    *Multi-instance kernels*, ICML 2002). The power p emphasises similar pairs; for a Gaussian kernel it multiplies γ.
    The article leaves the choice of the normalisation open (by the bag sizes, or as here). Here each bag has unit norm
    in feature space, so that large bags do not dominate small ones.

    Parameters
    ----------
    gamma : float or {"scale"}, default="scale"
        γ of the kernel between instances; "scale" means 1 / (number of features · their variance).
    power : float, default=1
        Power p of the kernel between instances, above 0.
    C : float, default=10.0
        Penalty of misclassified bags; a large value fits the training bags more closely.
    scaling : {"clipped", "standard", "none"}, default="clipped"
        "standard" scales each feature (or channel) to mean 0 and standard deviation 1 in the training instances;
        "clipped" also clips features to the range of the training instances; "none" leaves them unchanged.
    calibration : bool, default=True
        Whether to calibrate the probabilities: slope and offset of the scores are learned by cross-validation.
    positive : object, default=None
        The positive one of two classes; None means the last class, or the obvious one of a common pair.
    random_state : int, RandomState or None, default=None
        Random seed; pass an int for reproducible results.

    Attributes
    ----------
    learned_ : SupportSets
        The support bags and their coefficients.

    Examples
    --------
    >>> from bagwise.data.datasets import load_dataset
    >>> bags = load_dataset("needles", n_bags=60)
    >>> model = MIKernel(random_state=0).fit(bags, bags.labels)
    >>> model.predict_proba(bags).shape, model.weigh(bags).shape == (bags.n_instances,)
    ((60, 2), True)
    """

    learns = SupportSets

    def __init__(
        self,
        gamma: Gamma = "scale",
        power: float = 1,
        C: float = 10.0,
        scaling: Literal["clipped", "standard", "none"] = "clipped",
        calibration: bool = True,
        positive: Any = None,
        random_state: RandomState = None,
    ) -> None:
        self.gamma = gamma
        self.power = power
        self.C = C
        self.scaling = scaling
        self.calibration = calibration
        self.positive = positive
        self.random_state = random_state

    def _learn(self, bags: Bags, targets: np.ndarray, seed: int) -> SupportSets:
        gamma = resolve_gamma(self.gamma, bags.instances) * check_real_number("power", self.power, above=0)
        return SupportSets.learn(
            bags, targets, self.likelihood_.n_scores, gamma, check_real_number("C", self.C, above=0)
        )
