"""The recipe of each experiment.

Where the paper leaves a choice open, the honest one is the default: features are scaled by training bags alone, no
test bag has a say in any choice, and a number of epochs that was fixed beforehand replaces a validation set that the
paper does not describe.
"""

from bagwise.paper.recipes.claims import claims
from bagwise.paper.recipes.classical import table1
from bagwise.paper.recipes.contract import Recipe, Setting
from bagwise.paper.recipes.digits import mnist_bags
from bagwise.paper.recipes.tissue import breast, colon

RECIPES = {
    "table1": Recipe("Classical data sets (Table 1)", "accuracy", False, table1),
    "mnist-bags": Recipe("MNIST-bags (three tables of the appendix)", "auc", False, mnist_bags),
    "breast": Recipe("Breast cancer", "accuracy", True, breast),
    "colon": Recipe("Colon cancer", "accuracy", True, colon),
    "claims": Recipe("Claims of the text", "auc", False, claims, along="hidden units of the attention"),
}

__all__ = ["RECIPES", "Recipe", "Setting"]
