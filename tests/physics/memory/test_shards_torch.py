"""What FSDP2 holds on a rank, by torch's own memory tracker on fake tensors and ranks, against recipe ``fsdp``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.distributed import destroy_process_group, init_process_group
from torch.distributed._tools.fsdp2_mem_tracker import FSDPMemTracker
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.nn import functional
from torch.testing._internal.distributed.fake_pg import FakeStore

from suanpei.physics.memory.buffers import estimate_buffers
from suanpei.physics.memory.loss import estimate_loss_bytes
from suanpei.physics.memory.stages import split_layers
from suanpei.physics.memory.states import estimate_states
from suanpei.physics.strategy import Recompute, Sharding
from tests.physics.memory.samples import RECIPES, job_of, knobs, operators_of
from tests.physics.memory.torch_layers import (
    FFN,
    HIDDEN,
    TOKENS,
    FusedNorm,
    GatedMlp,
    GroupedAttention,
    Layer,
    estimated_bytes,
    grouped_architecture,
    linear,
)

if TYPE_CHECKING:
    from collections.abc import Callable

LAYERS, VOCAB = 3, 512
ARCHITECTURE = grouped_architecture(layers=LAYERS, vocab=VOCAB)
OPERATORS = operators_of(ARCHITECTURE)
JOB = job_of(ARCHITECTURE, seq_len=TOKENS)
FSDP = RECIPES["fsdp"]
STAGE = split_layers(OPERATORS, 1, 1)


class Model(nn.Module):  # type: ignore[misc]  # torch is not followed
    """A small model with fused norms and eager gates, as torchtitan's."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding, self.norm, self.head = nn.Embedding(VOCAB, HIDDEN), FusedNorm(HIDDEN), linear(HIDDEN, VOCAB)
        self.layers = nn.ModuleList(Layer(GroupedAttention(), GatedMlp(FFN, eager=True)) for _ in range(LAYERS))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


@dataclass(frozen=True, kw_only=True)
class Tracked:
    """Memory of one rank in one training step, by the tracker's kinds. [B]"""

    forward: dict[str, int]
    """After the forward pass, before the loss."""
    peak: dict[str, int]
    end: dict[str, int]
    """After the optimizer step."""
    around_layers: list[dict[str, int]]
    """Before and after each layer's gathers, passes and reductions, and at its peaks."""
    step_counts: int
    """The optimizer's scalars."""


@cache
def track(ranks: int, *, sharding: Sharding = Sharding.ZERO3, recompute: Recompute = Recompute.NONE) -> Tracked:
    """Train one step as the first of so many ranks; the others do not exist."""
    init_process_group("fake", store=FakeStore(), rank=0, world_size=ranks)
    try:
        # the root stays whole from the forward to the backward pass in any case
        shard = partial(
            fully_shard,
            mesh=init_device_mesh("cpu", (ranks,)),
            mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32),
            reshard_after_forward=sharding == Sharding.ZERO3,
        )
        with FakeTensorMode():
            return _track_step(shard, recompute)
    finally:
        destroy_process_group()


def _track_step(shard: Callable[[Any], object], recompute: Recompute) -> Tracked:
    model, tokens = Model(), torch.zeros(1, TOKENS, dtype=torch.long)
    for index, layer in enumerate(model.layers):
        if recompute == Recompute.FULL:
            model.layers[index] = checkpoint_wrapper(layer)
        shard(model.layers[index])
    shard(model)
    # with foreach the tracker takes the step's temporaries for states
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
    tracker = FSDPMemTracker(model, optimizer)
    tracker.track_inputs((tokens,))
    with tracker:
        logits = model(tokens)
        forward = _by_kind(tracker.get_tracker_snapshot("current"))
        loss = functional.cross_entropy(logits.flatten(0, 1).float(), tokens.flatten())
        del logits
        loss.backward()
        optimizer.step()
    around_layers = [tracker.memory_tracking[layer].snapshots.values() for layer in model.layers]
    return Tracked(
        forward=forward,
        peak=_by_kind(tracker.get_tracker_snapshot("peak")),
        end=_by_kind(tracker.get_tracker_snapshot("current")),
        around_layers=[_by_kind(snapshot) for states in around_layers for state in states for snapshot in state],
        step_counts=4 * len(list(model.parameters())),
    )


def _by_kind(snapshot: Any) -> dict[str, int]:
    """Bytes of the one device by kind."""
    (device,) = snapshot.values()
    return {getattr(kind, "value", kind): size for kind, size in device.items()}


def state_knobs(ranks: int, sharding: Sharding = Sharding.ZERO3) -> dict[str, Any]:
    return knobs("tp", "ep", "etp", "cp", "dp", "sharding", dp=ranks, sharding=sharding)


def loss_bytes(bytes_per_logit: float) -> float:
    """Our logits and loss, a number of bytes per logit in place of the plain loss's."""
    ours = estimate_loss_bytes(JOB, OPERATORS, FSDP, **knobs("tp", "sp", "cp", "micro_batch"))
    return float(ours[0]) + (bytes_per_logit - FSDP.plain_loss_bytes) * TOKENS * VOCAB


@pytest.mark.parametrize(
    ("ranks", "sharding"), [(2, Sharding.ZERO2), (2, Sharding.ZERO3), (4, Sharding.ZERO3), (8, Sharding.ZERO3)]
)
def test_weights_gradients_and_states_of_a_rank(ranks: int, sharding: Sharding) -> None:
    tracked = track(ranks, sharding=sharding)
    states = estimate_states(JOB, OPERATORS, FSDP, STAGE, **state_knobs(ranks, sharding))
    assert tracked.end["Sharded Param"] == states.weights_bytes.flat[0]
    assert tracked.end["Sharded Grad"] == states.gradients_bytes.flat[0]
    assert tracked.end["OptState"] - tracked.step_counts == states.optimizer_bytes.flat[0]


@pytest.mark.parametrize("recompute", [Recompute.NONE, Recompute.FULL])
def test_activations_after_the_forward_pass(recompute: Recompute) -> None:
    tracked = track(2, recompute=recompute)
    # of the loss there are 16-bit logits so far
    ours = LAYERS * estimated_bytes(ARCHITECTURE, "fsdp", recompute=recompute) + loss_bytes(2)
    assert tracked.forward["Activation"] == ours


def test_the_peak_is_the_loss_behind_all_layers() -> None:
    tracked = track(2)
    # the loss itself and the number of its targets, 4 bytes each
    ours = LAYERS * estimated_bytes(ARCHITECTURE, "fsdp") + loss_bytes(FSDP.plain_loss_bytes) + 2 * 4
    assert tracked.peak["Activation"] + tracked.peak["Temp"] == ours
    assert tracked.peak["Sharded Grad"] == tracked.peak["OptState"] == 0


def test_two_layers_and_the_ends_are_gathered_and_one_layers_gradients_reduced() -> None:
    tracked = track(2)
    buffers = estimate_buffers(JOB, OPERATORS, FSDP, STAGE, **state_knobs(2))
    gathered = max(around["Unsharded Param"] + around["All Gather"] for around in tracked.around_layers)
    # we leave out the last norm
    assert gathered == buffers.gathered_bytes.flat[0] + 2 * HIDDEN
    reduced = max(around["Unsharded Grad"] + around["Reduce Scatter"] for around in tracked.around_layers)
    assert reduced == buffers.bucket_bytes.flat[0]


def test_all_weights_stay_gathered_where_only_gradients_are_divided() -> None:
    tracked = track(2, sharding=Sharding.ZERO2)
    buffers = estimate_buffers(JOB, OPERATORS, FSDP, STAGE, **state_knobs(2, Sharding.ZERO2))
    assert tracked.forward["Unsharded Param"] == buffers.gathered_bytes.flat[0]
