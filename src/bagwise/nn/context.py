"""Contexts, which let the instances of a bag see each other between the encoder and the pooling.

    h′ₖ = c(hₖ; {h₁, …, h_K})

The embedding of an instance after the context may depend on all instances of its bag, in any order, but not on other
bags. If the instances of a bag are permuted, their embeddings are permuted in the same way.
"""

from abc import ABC, abstractmethod

from torch import nn

from bagwise.nn.segments import Offsets, Rows


class Context(nn.Module, ABC):
    """Abstract base class of contexts.

    A subclass implements ``forward``. The instances of a bag must then fit into memory together.

    Attributes
    ----------
    supports_streaming : bool
        Whether the rows of any piece of a bag get the same values as within the whole bag, so that a bag can be read in
        pieces; False unless a subclass sets it to True.
    title : str
        Name of the context in messages: the name of the class.
    """

    supports_streaming: bool = False

    def __init__(self) -> None:
        super().__init__()
        self.title = type(self).__name__

    @abstractmethod
    def forward(self, embeddings: Rows, offsets: Offsets) -> Rows:
        """Compute the embeddings in the context of their bags.

        Parameters
        ----------
        embeddings : Tensor of shape (instances, width)
            Embeddings of the instances of all bags, concatenated.
        offsets : Tensor of shape (bags + 1,)
            Bag ``b`` consists of the rows ``offsets[b]`` to ``offsets[b + 1] - 1``.

        Returns
        -------
        Tensor of shape (instances, width)
            Embeddings in the same order and of the same shape.
        """


class ScoresInContext(Context):
    """Scores of instances, sₖ = g(h′ₖ): a classifier g is applied to the embeddings after a context.

    Used at instance level, where scores are pooled instead of embeddings. Unlike other contexts it changes the width.

    Parameters
    ----------
    context : Context
        Computes the embeddings h′.
    classifier : nn.Module
        Maps an embedding to scores.
    """

    def __init__(self, context: Context, classifier: nn.Module) -> None:
        super().__init__()
        self.context = context
        self.classifier = classifier
        self.supports_streaming = context.supports_streaming
        self.title = context.title

    def forward(self, embeddings: Rows, offsets: Offsets) -> Rows:
        return self.classifier(self.context(embeddings, offsets))
