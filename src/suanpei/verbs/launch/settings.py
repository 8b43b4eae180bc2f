"""What launch files say, in the product's words: the type, and the collector that readers fill."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from suanpei.errors import InputError
from suanpei.messages import Message

if TYPE_CHECKING:
    from suanpei.job.architecture import Architecture
    from suanpei.job.job import LoraTarget, Method, Optimizer, Precision
    from suanpei.physics.strategy import Recompute, Sharding
    from suanpei.verbs.launch.model_arguments import ModelArguments

SIZES = frozenset(
    (
        *("world_size", "nodes", "gpus_per_node", "booked_gpus", "tp", "pp", "vpp", "cp", "ep", "etp", "dp"),
        *("micro_batch", "grad_accum", "global_batch_seqs", "seq_len", "lora_rank", "layers_per_virtual_stage"),
    )
)
"""Fields that say how a step is split, against those that count a whole run."""
MOST_SIZE = 10**7
MOST_AMOUNT = 10**18


@dataclass(frozen=True, kw_only=True)
class LaunchSettings:
    """The settings of one training run, as its launch files give them; None is not given and not derivable."""

    files: tuple[str, ...] = ()
    """Files read, followed ones included."""
    formats: tuple[str, ...] = ()
    """``megatron``, ``deepspeed``, ``torchtitan``, ``trainer``, ``slurm``, ``torchrun``, ``accelerate``."""
    origins: tuple[tuple[str, str], ...] = ()
    """For each given field, where it stands: ``("tp", "args.txt: --tensor-model-parallel-size")``."""
    world_size: int | None = None
    """Accelerators that train. [-]"""
    nodes: int | None = None
    gpus_per_node: int | None = None
    booked_gpus: int | None = None
    """Accelerators that the scheduler reserves, used or not. [-]"""
    accelerator: str | None = None
    """The accelerator's name as the scheduler knows it (``gres=gpu:a100:8``)."""
    tp: int | None = None
    sp: bool | None = None
    pp: int | None = None
    vpp: int | None = None
    cp: int | None = None
    ep: int | None = None
    etp: int | None = None
    dp: int | None = None
    sharding: Sharding | None = None
    recompute: Recompute | None = None
    micro_batch: int | None = None
    grad_accum: int | None = None
    global_batch_seqs: int | None = None
    """Sequences per optimizer step. [-]"""
    seq_len: int | None = None
    """Tokens per sequence. [tokens]"""
    precision: Precision | None = None
    optimizer: Optimizer | None = None
    recipe: str | None = None
    """``megatron``, ``fsdp``, ``deepspeed`` or ``ddp``."""
    method: Method | None = None
    lora_rank: int | None = None
    lora_targets: tuple[LoraTarget, ...] | None = None
    offload: frozenset[str] | None = None
    """``optimizer``, ``parameters``: what is kept in host memory."""
    flash_attention: bool | None = None
    capacity_factor: float | None = None
    optimizer_in_backward: bool | None = None
    layers_per_virtual_stage: int | None = None
    model: str | None = None
    """The model's name or path as the files write it."""
    model_arguments: ModelArguments | None = None
    """An architecture given by arguments, still without its vocabulary."""
    vocab: int | None = None
    """Tokens of the vocabulary, before padding. [-]"""
    architecture: Architecture | None = None
    """Built where the arguments and the vocabulary are known."""
    max_steps: int | None = None
    epochs: float | None = None
    train_samples: int | None = None
    time_limit_s: float | None = None
    """What the scheduler grants. [s]"""
    tokens_per_step: int | None = None
    """Tokens of one optimizer step. [tokens]"""
    tokens_total: int | None = None
    """Tokens of all steps. [tokens]"""
    gpu_hours_booked: float | None = None
    """Reserved accelerators times the time limit. [h]"""
    undetermined: tuple[tuple[str, Message], ...] = ()
    """Fields that the files mention without saying the value (``auto``, a variable set elsewhere), with the reason."""
    flags: tuple[str, ...] = ()
    """Environment variables that will hurt, by name."""
    missing: tuple[Message, ...] = ()
    """What must be given on the command line; each message has a value ``option``."""
    contradictions: tuple[Message, ...] = ()
    """What cannot all be true, or what the framework will refuse."""
    warnings: tuple[Message, ...] = ()
    """What will cost speed, and settings that change sizes and are not modelled."""
    notes: tuple[Message, ...] = ()
    """Defaults of the frameworks that were filled in, and readings that need not be the only ones."""
    given: LaunchSettings | None = field(default=None, metadata={"json": None})
    """The same before anything was derived."""


@dataclass
class Collector:
    """Gathers what several files say; the first word wins and a different one is a contradiction."""

    values: dict[str, Any] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)
    formats: list[str] = field(default_factory=list)
    undetermined: dict[str, Message] = field(default_factory=dict)
    flags: list[str] = field(default_factory=list)
    missing: list[Message] = field(default_factory=list)
    contradictions: list[Message] = field(default_factory=list)
    warnings: list[Message] = field(default_factory=list)
    notes: list[Message] = field(default_factory=list)

    def put(self, name: str, value: object, where: str) -> None:
        """Record that the file and flag `where` give the field `name`.

        Raises:
            InputError: A number beyond anything that runs.
        """
        if isinstance(value, int) and value > (MOST_SIZE if name in SIZES else MOST_AMOUNT):
            raise InputError(Message("{where} is too large to be meant: {value}", where=where, value=_show(value)))
        if name not in self.values:
            self.values[name] = value
            self.origins[name] = where
        elif self.values[name] != value:
            self.contradictions.append(
                Message(
                    "{field}: {first_where} says {first}, {second_where} says {second}",
                    field=name,
                    first=_show(self.values[name]),
                    first_where=self.origins[name],
                    second=_show(value),
                    second_where=where,
                )
            )

    def put_default(self, name: str, value: object, note: Message) -> None:
        """Fill a framework's default where nothing was given, and say so."""
        if name not in self.values:
            self.values[name] = value
            self.notes.append(note)

    def add_format(self, name: str) -> None:
        """Record a format that was recognised."""
        if name not in self.formats:
            self.formats.append(name)

    def settings(self) -> LaunchSettings:
        """Give what was gathered, nothing derived."""
        return LaunchSettings(
            **self.values,
            files=tuple(self.files),
            formats=tuple(self.formats),
            origins=tuple(self.origins.items()),
            undetermined=tuple(self.undetermined.items()),
            flags=tuple(dict.fromkeys(self.flags)),
            missing=tuple(self.missing),
            contradictions=tuple(self.contradictions),
            warnings=tuple(dict.fromkeys(self.warnings)),
            notes=tuple(self.notes),
        )


def _show(value: object) -> str:
    name = getattr(value, "name", None)
    if isinstance(name, str):
        return name.lower()
    if isinstance(value, frozenset | tuple):
        return "+".join(sorted(str(item) for item in value)) or "none"
    return str(value)


def add_messages(
    settings: LaunchSettings,
    *,
    missing: tuple[Message, ...] = (),
    contradictions: tuple[Message, ...] = (),
    warnings: tuple[Message, ...] = (),
    notes: tuple[Message, ...] = (),
) -> LaunchSettings:
    """Append messages to settings; those already there are not repeated."""

    def merged(old: tuple[Message, ...], new: tuple[Message, ...]) -> tuple[Message, ...]:
        return tuple(dict.fromkeys((*old, *new)))

    return replace(
        settings,
        missing=merged(settings.missing, missing),
        contradictions=merged(settings.contradictions, contradictions),
        warnings=merged(settings.warnings, warnings),
        notes=merged(settings.notes, notes),
    )
