"""Measure how well weights identify the key instances: python examples/key_instances.py

The needles data set includes labels of its shifted instances, which are used for evaluation only.
"""

from bagwise import load_dataset
from bagwise.estimators import build_method
from bagwise.evaluation import compute_instance_metrics

train = load_dataset("needles", n_bags=60)
test = load_dataset("needles", n_bags=60, seed=1)

print("mean over bags            AUC    top-1")
for name in ("gated attention", "instance+max", "mi-SVM", "embedding+mean"):
    model = build_method(name, random_state=0)
    if "epochs" in model.get_params():
        model.set_params(epochs=10, batch_size=4)
    model.fit(train, train.labels)
    for kind, values in (("weights", model.weigh(test)), ("scores", model.score_instances(test))):
        metrics = compute_instance_metrics(test, values)
        print(f"{name + ', ' + kind:<26}{metrics['auc']:.3f}  {metrics['top_1']:.3f}")
