"""Methods as estimators of scikit-learn, on the same folds: python examples/compare_methods.py"""

from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score

from bagwise import load_dataset
from bagwise.estimators import MISVM, BagClassifier, MinimaxKernel, PooledClassifier

bags = load_dataset("needles", n_bags=80)
estimators = {
    "extra trees": PooledClassifier(random_state=0),
    "minimax kernel": MinimaxKernel(random_state=0),
    "MI-SVM, C searched": GridSearchCV(MISVM(calibration=0, random_state=0), {"C": [1, 10]}, cv=3),
    "gated attention": BagClassifier(epochs=10, batch_size=4, random_state=0),
}
folds = StratifiedKFold(4, shuffle=True, random_state=0)
for name, estimator in estimators.items():
    scores = cross_val_score(estimator, bags, bags.labels, cv=folds, scoring="roc_auc")
    print(f"{name}: AUC {scores.mean():.3f}, folds from {scores.min():.3f} to {scores.max():.3f}")
