"""Explain the prediction for one bag and plot its instances: python examples/explain_a_bag.py"""

from matplotlib.figure import Figure

from bagwise import BagClassifier, load_dataset
from bagwise.explain import assess_trust, compute_deletion_curves, explain_bags

train = load_dataset("digits", n_bags=100)
test = load_dataset("digits", split="test", n_bags=20)
model = BagClassifier(epochs=12, batch_size=8, learning_rate=2e-3, random_state=0).fit(train, train.labels)

bag = test[[int(test.labels.argmax())]]  # the first positive bag
explanation = explain_bags(model, bag)
trust = assess_trust(explanation.weights, bag.offsets)
print(f"probability {explanation.outputs[0, 1]:.3f}")
print(f"effective number of instances: {trust.effective_number[0]:.1f} of {bag.n_instances}")
for warning in trust.warnings[0]:
    print(warning)

order = (-explanation.weights).argsort()
curve = compute_deletion_curves(model, bag, order, output_number=1)
print(f"area under the deletion curve (images removed by decreasing weight): {curve.deletion_area:.3f}")

figure = Figure(figsize=(12, 2))
for axes, index in zip(figure.subplots(1, bag.n_instances), order, strict=True):
    axes.imshow(bag.instances[index], cmap="gray_r")
    axes.set_title(f"{explanation.weights[index]:.2f}\n{explanation.contributions[index, 1]:+.2f}", fontsize=9)
    axes.axis("off")
figure.suptitle("weight and contribution to the class 'contains a nine'")
figure.savefig("why.png", bbox_inches="tight")
