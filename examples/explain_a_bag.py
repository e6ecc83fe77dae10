"""Why one bag was judged as it was, as a picture: python examples/explain_a_bag.py"""

from matplotlib.figure import Figure

from bagwise import BagClassifier, load_dataset
from bagwise.explain import deletion_and_insertion, explain, judge_trust

train = load_dataset("digits", n_bags=100)
test = load_dataset("digits", split="test", n_bags=20)
model = BagClassifier(epochs=12, batch_size=8, learning_rate=2e-3, random_state=0).fit(train, train.labels)

bag = test[[int(test.labels.argmax())]]  # the first positive one
why = explain(model, bag)
trust = judge_trust(why.weights, bag.offsets)
print(f"probability {why.probabilities[0, 1]:.3f}; {trust.effective_number[0]:.1f} of {bag.n_instances} images count")
for warning in trust.warnings[0]:
    print(warning)

order = (-why.weights).argsort()
curve = deletion_and_insertion(model, bag, order, class_number=1)
print(f"area under the probability as the first images are taken away: {curve.deletion_area:.3f}")

figure = Figure(figsize=(12, 2))
for axes, place in zip(figure.subplots(1, bag.n_instances), order, strict=True):
    axes.imshow(bag.instances[place], cmap="gray_r")
    axes.set_title(f"{why.weights[place]:.2f}\n{why.contributions[place, 1]:+.2f}", fontsize=9)
    axes.axis("off")
figure.suptitle("weight, and contribution to 'holds a nine'")
figure.savefig("why.png", bbox_inches="tight")
