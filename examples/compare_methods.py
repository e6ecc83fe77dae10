"""Compare methods as scikit-learn estimators on the same folds: python examples/compare_methods.py"""

from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score

from bagwise import BagClassifier, load_dataset
from bagwise.estimators import MISVM, MinimaxKernel, PooledClassifier

bags = load_dataset("needles", n_bags=80)
estimators = {
    "extra trees": PooledClassifier(random_state=0),
    "minimax kernel": MinimaxKernel(random_state=0),
    "MI-SVM, C by grid search": GridSearchCV(MISVM(calibration=False, random_state=0), {"C": [1, 10]}, cv=3),
    "gated attention": BagClassifier(epochs=10, batch_size=4, random_state=0),
}
folds = StratifiedKFold(4, shuffle=True, random_state=0)
for name, estimator in estimators.items():
    scores = cross_val_score(estimator, bags, bags.labels, cv=folds, scoring="roc_auc")
    print(f"{name}: mean AUC {scores.mean():.3f} (range over folds {scores.min():.3f} to {scores.max():.3f})")
