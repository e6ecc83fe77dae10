"""Train a model on an included data set, evaluate it and save it: python examples/first_model.py"""

from bagwise import BagClassifier, evaluate, load_dataset

train = load_dataset("digits", n_bags=100)  # a bag of digits is positive if it contains a nine
test = load_dataset("digits", split="test", n_bags=50)

model = BagClassifier(pooling="gated attention", epochs=12, batch_size=8, learning_rate=2e-3, random_state=0)
model.fit(train, train.labels)

result = evaluate(model, test, test.labels)
for name in ("auc", "accuracy"):
    metric = result.metrics["bags"][name]
    low, high = metric["interval"]
    print(f"{name}: {metric['value']:.3f}, 95 % interval {low:.3f} to {high:.3f}")

model.save("model")
assert (BagClassifier.load("model").predict(test) == model.predict(test)).all()
print("saved to model/")
