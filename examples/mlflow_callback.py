"""Log parameters, every epoch and the model to MLflow (pip install mlflow); show them with: mlflow ui"""

import mlflow

from bagwise import BagClassifier, load_dataset
from bagwise.training import TrainingProgress


class MLflowProgress(TrainingProgress):
    def epoch(self, record):
        losses = {name: value for name, value in record.as_dict().items() if value is not None}
        mlflow.log_metrics(losses, step=losses.pop("epoch"))


bags = load_dataset("needles", n_bags=60)
model = BagClassifier(epochs=5, validation=0.2, random_state=0)
with mlflow.start_run():
    mlflow.log_params(model.get_params())
    model.fit(bags, bags.labels, progress=MLflowProgress())
    model.save("model/")
    mlflow.log_artifacts("model/", artifact_path="model")
