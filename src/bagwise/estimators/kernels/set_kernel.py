"""MI-Kernel (Gärtner, Flach, Kowalczyk & Smola 2002): a support vector machine whose kernel compares bags as sets.

    k(X, X') = Σₐ Σ_b k(xₐ, x'_b)ᵖ / √( Σ k(xₐ, x_b)ᵖ · Σ k(x'ₐ, x'_b)ᵖ )        k(x, x') = exp(−γ ‖x − x'‖²)

Every instance of one bag meets every instance of the other. The power p raises what is alike above what is not; for a
Gaussian kernel it multiplies γ. The article leaves the normalisation open (by the size of bags, or as here): here each
bag has length one in feature space, so that large bags do not outweigh small ones.
"""

from typing import Any

import numpy as np

from bagwise.bags import Bags
from bagwise.estimators.kernels.bag_kernels import norms
from bagwise.estimators.kernels.gamma import resolve_gamma
from bagwise.estimators.kernels.kernel_machine import KernelMachine
from bagwise.estimators.kernels.support_bags import SupportBags
from bagwise.quantities import real_number


class SupportSets(SupportBags):
    """Masses that give each bag length one."""

    @staticmethod
    def masses(bags: Bags, gamma: float) -> np.ndarray:
        return (1 / norms(bags, gamma))[bags.owners]


class MIKernel(KernelMachine):
    """A support vector machine with the normalised set kernel.

    gamma : of the kernel between instances, a number, or "scale": 1 / (features · their variance)
    power : p, above 0
    C : the penalty of a bag on the wrong side

    >>> from bagwise.datasets import load_dataset
    >>> bags = load_dataset("needles", n_bags=60)
    >>> model = MIKernel(random_state=0).fit(bags, bags.labels)
    >>> model.predict_proba(bags).shape, model.weigh(bags).shape == (bags.n_instances,)
    ((60, 2), True)
    """

    learns = SupportSets

    def __init__(
        self,
        gamma: Any = "scale",
        power: Any = 1,
        C: Any = 10.0,
        standardize: Any = True,
        calibration: Any = 3,
        random_state: Any = None,
    ) -> None:
        self.gamma = gamma
        self.power = power
        self.C = C
        self.standardize = standardize
        self.calibration = calibration
        self.random_state = random_state

    def _learn(self, bags: Bags, targets: np.ndarray, seed: int) -> SupportSets:
        gamma = resolve_gamma(self.gamma, bags.instances) * real_number("power", self.power, above=0)
        return SupportSets.learn(bags, targets, gamma, real_number("C", self.C, above=0))
