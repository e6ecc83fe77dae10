"""The fused engine: training with the same model and random streams as the torch engine, many steps per compiled call.

After every call, the parameters are copied back to the torch module and the moments to the torch optimizer. Therefore
checkpoints, validation and saving do not depend on the engine.
"""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from torch import nn, optim

from bagwise.nn import get_augmented_shape, get_encoder_shape
from bagwise.targets import Supervised
from bagwise.training.engines.base import BatchSums, DivergedError, Engine, TrainingProblem
from bagwise.training.engines.fused.attention import attention_backward, compute_instance_weights
from bagwise.training.engines.fused.batch_sources import PreparedBatches, SampledBatches
from bagwise.training.engines.fused.compatibility import decompose_model
from bagwise.training.engines.fused.compilation import compile_entry_point, compile_kernel, hash_kernel_sources
from bagwise.training.engines.fused.dense import copy_values
from bagwise.training.engines.fused.encoder import encoder_backward, encoder_forward, sample_dropout_masks
from bagwise.training.engines.fused.heads import evaluate_scores, head_backward, head_forward
from bagwise.training.engines.fused.model_tables import ATTENTION, Layout, Workspace, make_workspace
from bagwise.training.engines.fused.optimizers import ADAM, NESTEROV, SGD, OptimizerSettings, make_update_rule
from bagwise.training.engines.fused.pooling import (
    pool_embeddings,
    pool_embeddings_backward,
    pool_scores,
    pool_scores_backward,
)
from bagwise.training.engines.fused.shared_parameters import SharedParameters

ROWS_PER_CALL = 2048  # tens of milliseconds, or hundreds with convolutions; a run can be stopped between calls


class FusedEngine(Engine):
    """Engine that performs training steps by compiled kernels on the CPU.

    Parameters
    ----------
    problem : TrainingProblem
        Model, data and optimizer.

    Attributes
    ----------
    layout : Layout
        Tables that describe the model to the kernels.
    parameters : SharedParameters
        Parameters and moments that the kernels update.
    workspace : Workspace
        Arrays of the last step.
    stride : int
        Approximate number of bags per call of ``run``.

    Raises
    ------
    UnsupportedModelError
        If the fused engine does not support the model; see ``decompose_model``.
    """

    name = "fused"

    def __init__(self, problem: TrainingProblem) -> None:
        model, bags, self.optimizer = problem.model, problem.task.bags, problem.optimizer
        parts, problem = decompose_model(model, problem.likelihood), _order_classes(problem)
        is_sampled = parts.augmentations or problem.most_instances is not None
        self.source = SampledBatches(problem, parts) if is_sampled else PreparedBatches(problem, parts)
        shape = get_augmented_shape(nn.Sequential(*parts.augmentations), bags.instance_shape)
        shape = shape if parts.preprocessing is None else get_encoder_shape(shape)
        self.n_features = math.prod(shape)
        self.layout = Layout(parts, model, problem.likelihood, shape)
        self.parameters = SharedParameters(self.layout.slots, self.layout.size, self.optimizer)
        self.seed = np.uint64(problem.seed % (1 << 64))
        sizes = np.minimum(bags.sizes, problem.most_instances or bags.n_instances)
        self.stride = max(1, ROWS_PER_CALL * len(sizes) // int(sizes.sum()))
        self.workspace = self._make_workspace(1, 1)

    def run(self, batches: Sequence[np.ndarray], first_step: int, learning_rate: float) -> BatchSums:
        """Perform one optimizer step per batch.

        Parameters
        ----------
        batches : sequence of ndarray of int
            Indices of the bags of each batch.
        first_step : int
            Number of the first step, which determines the random numbers.
        learning_rate : float
            Learning rate of all steps.

        Returns
        -------
        BatchSums
            Loss and errors, summed over all bags of the batches.

        Raises
        ------
        DivergedError
            If the loss of a bag is not finite. The parameters are then not copied back to torch.
        """
        batch_offsets = np.cumsum([0, *map(len, batches)])
        bags, order = self.source.read(batches, first_step)
        self._enlarge_workspace(np.diff(bags.offsets)[order], batch_offsets)
        loss, errors, batch, bag = run_steps(
            self.layout.tables,
            get_optimizer_settings(self.optimizer, learning_rate),
            self.parameters.buffer,
            bags,
            self.workspace,
            order,
            batch_offsets,
            self.seed,
            first_step,
            self.parameters.n_steps,
        )
        if batch >= 0:
            in_batch = order[batch_offsets[batch] : batch_offsets[batch + 1]]
            raise DivergedError(batch, int(batches[batch][np.flatnonzero(in_batch == bag)[0]]))
        self.parameters.store(len(batches))
        return BatchSums(float(loss), float(errors))

    def _enlarge_workspace(self, sizes: np.ndarray, batch_offsets: np.ndarray) -> None:
        """Replace the workspace if it is too small for the largest batch, given the sizes of all bags in order."""
        n_rows = int(np.add.reduceat(sizes, batch_offsets[:-1]).max())
        n_bags = int(np.diff(batch_offsets).max())
        if n_rows > len(self.workspace.instances) or n_bags >= len(self.workspace.offsets):
            self.workspace = self._make_workspace(n_rows, n_bags)

    def _make_workspace(self, n_rows: int, n_bags: int) -> Workspace:
        dtype = self.parameters.buffer.weights.dtype
        return make_workspace(self.layout.tables, self.n_features, n_rows, n_bags, self.layout.size, dtype)


def _order_classes(problem: TrainingProblem) -> TrainingProblem:
    """Number the classes as the kernels do: the positive one of two is the last."""
    likelihood: Any = problem.likelihood
    each: Any = likelihood.each if isinstance(likelihood, Supervised) else likelihood
    return replace(problem, task=problem.task._replace(targets=each.order_targets(problem.task.targets)))


def get_optimizer_settings(optimizer: optim.Optimizer, learning_rate: float) -> OptimizerSettings:
    """Return the settings of an optimizer built by ``TrainingSettings``, with the given learning rate."""
    group = optimizer.param_groups[0]
    if isinstance(optimizer, optim.Adam):
        code, (momentum, second_momentum), epsilon = ADAM, group["betas"], group["eps"]
    else:
        code, second_momentum, epsilon = NESTEROV if group["nesterov"] else SGD, 0.0, 0.0
        momentum = float(group["momentum"])
    return OptimizerSettings(
        optimizer=code,
        learning_rate=learning_rate,
        momentum=momentum,
        momentum_complement=1.0 - momentum,
        second_momentum=second_momentum,
        second_complement=1.0 - second_momentum,
        epsilon=epsilon,
        weight_decay=float(group["weight_decay"]),
    )


def _build_entry_point(version: str) -> Any:
    """Build the entry point; Numba includes ``version`` in the cache key, because the function refers to it."""

    @compile_entry_point
    def run_steps(tables, settings, parameters, bags, workspace, order, batch_offsets, seed, first_step, n_steps):
        """Perform one step per batch; batch b consists of order[batch_offsets[b] : batch_offsets[b + 1]].

        Return the loss, the errors, and the batch and bag that diverged (or −1 and −1).
        """
        assert len(version) > 0  # makes version a closure variable
        total, errors, dtype = 0.0, 0, parameters.weights.dtype.type
        for batch in range(batch_offsets.shape[0] - 1):
            indices = order[batch_offsets[batch] : batch_offsets[batch + 1]]
            n_bags, n_rows = indices.shape[0], gather_instances(bags, workspace, indices)
            loss, factor = 0.0, 1.0 / n_bags
            sample_dropout_masks(tables, workspace, n_rows, seed, np.uint64(first_step + batch))
            step_forward(tables, workspace, n_bags, n_rows, parameters.weights)
            for position in range(n_bags):
                bag = indices[position]
                scores, gradients = workspace.scores[position], workspace.score_gradients[position]
                value, error = evaluate_scores(scores, bags.targets[bag], tables.n_sets, tables.n_scores, gradients)
                if not math.isfinite(value):
                    return total, errors, batch, bag
                importance = bags.importance[bag]
                loss += value * importance
                errors += error
                for i in range(gradients.shape[0]):
                    gradients[i] *= importance * factor
            total += loss
            rule = make_update_rule(settings, n_steps + batch + 1, dtype)
            step_backward(tables, workspace, n_bags, n_rows, parameters, rule)
        return total, errors, -1, -1

    return run_steps


run_steps = _build_entry_point(hash_kernel_sources())


@compile_kernel
def gather_instances(bags, workspace, indices):
    """Copy the instances of the given bags to the workspace, one bag after the other; return their number."""
    n_rows = 0
    for position in range(indices.shape[0]):
        start, end = bags.offsets[indices[position]], bags.offsets[indices[position] + 1]
        for row in range(start, end):
            copy_values(bags.instances[row], workspace.instances[n_rows])
            n_rows += 1
        workspace.offsets[position + 1] = n_rows
    return n_rows


@compile_kernel
def step_forward(tables, workspace, n_bags, n_rows, weights):
    """Compute ``scores`` from ``instances``."""
    encoder_forward(tables, workspace, n_rows, weights)
    compute_instance_weights(tables, workspace, n_bags, n_rows, weights)
    if tables.instance_level:
        pool_scores(tables, workspace, n_bags, n_rows, weights)
    else:
        pool_embeddings(tables, workspace, n_bags)
        head_forward(tables, workspace, n_bags, weights)


@compile_kernel
def step_backward(tables, workspace, n_bags, n_rows, parameters, rule):
    """Propagate ``score_gradients`` back through the model, and update all parameters."""
    for block in range(tables.block_widths.shape[0]):
        start = workspace.instances.shape[0] * tables.block_starts[block]
        workspace.activation_gradients[start : start + n_rows * tables.block_widths[block]] = 0
    if tables.instance_level:
        pool_scores_backward(tables, workspace, n_bags, n_rows, parameters, rule)
    else:
        head_backward(tables, workspace, n_bags, parameters, rule)
        pool_embeddings_backward(tables, workspace, n_bags)
    if tables.pooling >= ATTENTION:
        attention_backward(tables, workspace, n_bags, n_rows, parameters, rule)
    encoder_backward(tables, workspace, n_rows, parameters, rule)
