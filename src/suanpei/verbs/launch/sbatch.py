"""What a job script asks the scheduler and the launchers for: nodes, accelerators, time, processes.

Options: Slurm's ``sbatch`` manual; ``torchrun``; ``accelerate launch``; the ``deepspeed`` launcher.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.physics.strategy import Sharding
from suanpei.units import DAY_S, HOUR_S, MINUTE_S

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suanpei.verbs.launch.arguments import Arguments
    from suanpei.verbs.launch.settings import Collector

_SHORT = {"-N": "--nodes", "-t": "--time", "-G": "--gpus", "-n": "--ntasks"}
_GRES = re.compile(r"gpu(?::([A-Za-z][\w.-]*))?(?::(\d+))?(?:\(.*\))?")
_TYPED_COUNT = re.compile(r"(?:([A-Za-z][\w.-]*):)?(\d+)")
_FSDP_STRATEGIES = {
    "full_shard": Sharding.ZERO3,
    "1": Sharding.ZERO3,
    "shard_grad_op": Sharding.ZERO2,
    "2": Sharding.ZERO2,
    "no_shard": Sharding.NONE,
    "3": Sharding.NONE,
    "hybrid_shard": Sharding.ZERO3,
    "4": Sharding.ZERO3,
    "hybrid_shard_zero2": Sharding.ZERO2,
    "5": Sharding.ZERO2,
}
"""``accelerate launch --fsdp_sharding_strategy``, by name and by number."""


def parse_time_limit(text: str) -> float | None:
    """Parse Slurm's time formats; None for no limit. [s]

    ``minutes``, ``minutes:seconds``, ``hours:minutes:seconds``, ``days-hours``, ``days-hours:minutes``,
    ``days-hours:minutes:seconds``. Source: sbatch(1), ``--time``.

    Raises:
        ValueError: The text is none of them.

    Example:
        >>> parse_time_limit("2-12:00:00")
        216000.0
    """
    if text.upper() in ("UNLIMITED", "INFINITE", "0"):
        return None
    match = re.fullmatch(r"(?:(\d+)-)?(\d+)(?::(\d+))?(?::(\d+))?", text)
    if match is None:
        raise ValueError(text)
    days, first, second, third = (None if group is None else int(group) for group in match.groups())
    if days is not None:
        return days * DAY_S + (first or 0) * HOUR_S + (second or 0) * MINUTE_S + (third or 0)
    if third is not None:
        return (first or 0) * HOUR_S + (second or 0) * MINUTE_S + third
    return (first or 0) * MINUTE_S + (second or 0)


def read_directives(directives: Sequence[str], file: str, collector: Collector) -> dict[str, str]:
    """Read ``#SBATCH`` lines into the collector and give the variables that Slurm will set.

    Raises:
        InputError: An option has a wrong value or stands twice with different values.
    """
    options = _parse_options(directives, file)
    collector.add_format("slurm")
    variables: dict[str, str] = {}
    nodes = _read_nodes(options, file, collector)
    if nodes is not None:
        collector.put("nodes", nodes, f"{file}: --nodes")
        variables |= {"SLURM_NNODES": str(nodes), "SLURM_JOB_NUM_NODES": str(nodes)}
    tasks = _count(options, "--ntasks-per-node", file)
    per_node = _read_gpus_per_node(options, file, collector, tasks)
    if per_node is not None:
        collector.put("gpus_per_node", per_node, f"{file}: accelerators per node")
        variables |= {"SLURM_GPUS_ON_NODE": str(per_node), "SLURM_GPUS_PER_NODE": str(per_node)}
        collector.put("booked_gpus", (nodes or 1) * per_node, f"{file}: nodes and accelerators per node")
    total = _typed_count(options, "--gpus", file, collector)
    if total is not None:
        collector.put("booked_gpus", total, f"{file}: --gpus")
    if tasks is not None:
        variables["SLURM_NTASKS_PER_NODE"] = str(tasks)
        variables["SLURM_NTASKS"] = str(tasks * (nodes or 1))
    limit = options.get("--time")
    if limit is not None:
        try:
            limit_s = parse_time_limit(limit)
        except ValueError as error:
            raise InputError(
                Message("{file}: --time takes a form like 2-12:00:00, got {value}", file=file, value=limit)
            ) from error
        if limit_s is not None:
            collector.put("time_limit_s", limit_s, f"{file}: --time")
    return variables


def _parse_options(directives: Sequence[str], file: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for directive in directives:
        match = re.match(r"(--?[A-Za-z][\w-]*)(?:[=\s]+(\S+))?", directive.split("#")[0].strip())
        if match is None:
            continue
        name, value = _SHORT.get(match[1], match[1]), match[2] or ""
        if options.setdefault(name, value) != value:
            raise InputError(
                Message(
                    "{file}: {flag} is given twice, as {first} and as {second}; keep one",
                    file=file,
                    flag=name,
                    first=options[name],
                    second=value,
                )
            )
    return options


def _count(options: Mapping[str, str], name: str, file: str) -> int | None:
    value = options.get(name)
    if value is None:
        return None
    if not value.isdecimal() or int(value) < 1:
        raise InputError(
            Message(
                "{file}: {flag} takes a whole number of at least {least}, got {value}",
                file=file,
                flag=name,
                least=1,
                value=value,
            )
        )
    return int(value)


def _read_nodes(options: Mapping[str, str], file: str, collector: Collector) -> int | None:
    value = options.get("--nodes")
    match = None if value is None else re.fullmatch(r"(\d+)-(\d+)", value)
    if match is None:
        return _count(options, "--nodes", file)
    collector.notes.append(
        Message("{file}: --nodes {value} is a range; the smaller number is taken", file=file, value=value)
    )
    return int(match[1])


def _typed_count(options: Mapping[str, str], name: str, file: str, collector: Collector) -> int | None:
    value = options.get(name)
    if value is None:
        return None
    match = _TYPED_COUNT.fullmatch(value)
    if match is None or int(match[2]) < 1:
        raise InputError(
            Message(
                "{file}: {flag} takes a number, or a type and a number such as a100:8, got {value}",
                file=file,
                flag=name,
                value=value,
            )
        )
    if match[1]:
        collector.put("accelerator", match[1], f"{file}: {name}")
    return int(match[2])


def _read_gpus_per_node(options: Mapping[str, str], file: str, collector: Collector, tasks: int | None) -> int | None:
    per_node = _typed_count(options, "--gpus-per-node", file, collector)
    if per_node is not None:
        return per_node
    per_task = _typed_count(options, "--gpus-per-task", file, collector)
    if per_task is not None and tasks is not None:
        return per_task * tasks
    for entry in options.get("--gres", "").split(","):
        match = _GRES.fullmatch(entry.removeprefix("gres/"))
        if match is not None:
            if match[1]:
                collector.put("accelerator", match[1], f"{file}: --gres")
            return int(match[2] or 1)
    return None


def read_launchers(arguments: Arguments) -> None:
    """Read the flags of ``torchrun``, ``accelerate launch`` and the ``deepspeed`` launcher.

    Raises:
        InputError: A value has the wrong type.
    """
    collector = arguments.collector
    if arguments.has("nproc_per_node", "nnodes"):
        collector.add_format("torchrun")
        nodes = arguments.text("nnodes")
        if nodes is not None and ":" in nodes:
            collector.notes.append(
                Message(
                    "{file}: --nnodes {value} is elastic; the smaller number is taken", file=arguments.file, value=nodes
                )
            )
            _put_count(arguments, "nodes", "nnodes", nodes.split(":")[0])
        else:
            arguments.put_integer("nodes", "nnodes")
        if arguments.text("nproc_per_node") not in ("gpu", "auto"):
            arguments.put_integer("gpus_per_node", "nproc_per_node")
    if arguments.has("num_processes", "num_machines", "mixed_precision", "use_deepspeed", "use_fsdp"):
        _read_accelerate(arguments)
    arguments.put_integer("gpus_per_node", "num_gpus")
    arguments.put_integer("nodes", "num_nodes")


def _put_count(arguments: Arguments, field: str, name: str, text: str) -> None:
    if not text.isdecimal() or int(text) < 1:
        raise InputError(
            Message(
                "{file}: {flag} takes a whole number of at least {least}, got {value}",
                file=arguments.file,
                flag=arguments.flags[name].written,
                least=1,
                value=text,
            )
        )
    arguments.collector.put(field, int(text), arguments.where(name))


def _read_accelerate(arguments: Arguments) -> None:
    collector = arguments.collector
    collector.add_format("accelerate")
    arguments.put_integer("world_size", "num_processes")
    arguments.put_integer("nodes", "num_machines")
    precision = arguments.text("mixed_precision")
    if precision in ("bf16", "fp16", "fp8"):
        collector.put("precision", precision, arguments.where("mixed_precision"))
    stage = arguments.integer("zero_stage", least=0)
    if stage is not None and stage <= Sharding.ZERO3:
        collector.put("sharding", Sharding(stage), arguments.where("zero_stage"))
    if arguments.switch("use_deepspeed"):
        collector.put("recipe", "deepspeed", arguments.where("use_deepspeed"))
    if arguments.switch("use_fsdp"):
        collector.put("recipe", "fsdp", arguments.where("use_fsdp"))
        strategy = (arguments.text("fsdp_sharding_strategy") or "full_shard").lower()
        collector.put("sharding", _FSDP_STRATEGIES.get(strategy, Sharding.ZERO3), arguments.where("use_fsdp"))
    config = arguments.text("config_file")
    if config is not None and config.endswith((".yaml", ".yml")):
        collector.missing.append(
            Message(
                "{option}: {file} names {config}, which is YAML and is not read; give its settings on the command line",
                option="--gpus",
                file=arguments.file,
                config=config,
            )
        )
