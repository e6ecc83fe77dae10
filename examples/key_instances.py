"""Do weights point at the instances that made a bag positive? python examples/key_instances.py

Needles know which of their instances are shifted; no estimator reads that, it is for judging alone.
"""

from bagwise import load_dataset
from bagwise.estimators.methods import build_method
from bagwise.evaluation import instance_metrics

train = load_dataset("needles", n_bags=60)
test = load_dataset("needles", n_bags=60, seed=1)

print("mean over bags of:        AUC    top-1")
for name in ("gated attention", "instance+max", "mi-SVM", "embedding+mean"):
    model = build_method(name, random_state=0)
    if "epochs" in model.get_params():
        model.set_params(epochs=10, batch_size=4)
    model.fit(train, train.labels)
    for what, values in (("weights", model.weigh(test)), ("scores", model.score_instances(test))):
        found = instance_metrics(test, values)
        print(f"{name + ', ' + what:<26}{found['auc']:.3f}  {found['top_1']:.3f}")
