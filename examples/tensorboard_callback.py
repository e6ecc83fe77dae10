"""Log every epoch to TensorBoard (pip install tensorboard); show the curves with: tensorboard --logdir logs"""

from torch.utils.tensorboard import SummaryWriter

from bagwise import BagClassifier, load_dataset
from bagwise.training import TrainingProgress


class TensorBoardProgress(TrainingProgress):
    def __init__(self, folder):
        self.folder = folder

    def __enter__(self):
        self.writer = SummaryWriter(self.folder)
        return self

    def epoch(self, record):
        for name, value in record.as_dict().items():
            if name != "epoch" and value is not None:
                self.writer.add_scalar(name, value, record.epoch)

    def __exit__(self, *error):
        self.writer.close()


bags = load_dataset("needles", n_bags=60)
model = BagClassifier(epochs=5, validation=0.2, random_state=0)
model.fit(bags, bags.labels, progress=TensorBoardProgress("logs"))
print(f"{len(model.history_)} epochs are logged in logs/")
