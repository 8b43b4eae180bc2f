"""Reading launch files: which format each is, and the files that they name."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.machine.table import decode_text
from suanpei.messages import Message
from suanpei.physics.strategy import Sharding
from suanpei.verbs.launch import megatron, torchtitan, trainer
from suanpei.verbs.launch.arguments import Arguments
from suanpei.verbs.launch.deepspeed import read_deepspeed
from suanpei.verbs.launch.environment import read_environment
from suanpei.verbs.launch.resolve import resolve
from suanpei.verbs.launch.sbatch import read_directives, read_launchers
from suanpei.verbs.launch.settings import Collector
from suanpei.verbs.launch.shell import Script, expand, read_script

if TYPE_CHECKING:
    from collections.abc import Sequence

    from suanpei.verbs.launch.settings import LaunchSettings

_LARGEST_BYTES = 4_000_000
_WORLD_SIZE = re.compile(r"world[\s_-]*size\s*[:=]?\s*(\d+)", re.IGNORECASE)
_PRESET = re.compile(r"zero(?:_stage_?)?([0-3])(_offload)?")
_DEEPSPEED_FLAGS = ("deepspeed", "deepspeed_config", "deepspeed_config_file")


def read_launch(paths: Sequence[Path]) -> LaunchSettings:
    """Read the launch files of one training run.

    Args:
        paths: Megatron arguments (text or shell), DeepSpeed JSON, torchtitan TOML, job scripts; any order. Files that
            a script names (``--deepspeed``, ``--job.config_file``) are followed relative to the script. [-]

    Returns:
        What they say together and what follows from it. [-]

    Raises:
        InputError: A file cannot be read or is malformed, a flag has a wrong value or stands twice, the training
            method is not modelled.
    """
    if not paths:
        raise InputError(
            Message(
                "no launch file given; it takes Megatron arguments, DeepSpeed JSON, torchtitan TOML or a job script"
            )
        )
    return resolve(_Reading().read_all(paths).settings())


class _Reading:
    """One pass over the files: scripts first, because a DeepSpeed ``auto`` takes its value from them."""

    def __init__(self) -> None:
        self.collector = Collector()
        self.seen: set[Path] = set()
        self.trainers: list[Arguments] = []

    def read_all(self, paths: Sequence[Path]) -> Collector:
        for path in sorted(paths, key=lambda each: each.suffix.lower() in (".json", ".toml")):
            self.read(path)
        for arguments in self.trainers:
            trainer.put_trainer_defaults(arguments)
        return self.collector

    def read(self, path: Path) -> None:
        """Read one file, once."""
        resolved = path.resolve()
        if resolved in self.seen:
            return
        text = read_text(path)
        self.seen.add(resolved)
        self.collector.files.append(path.name)
        suffix = path.suffix.lower()
        if suffix in (".yaml", ".yml"):
            raise InputError(
                Message(
                    "{file}: YAML is not read; give the flags, the DeepSpeed JSON or the torchtitan TOML",
                    file=path.name,
                )
            )
        if suffix == ".toml":
            torchtitan.read_torchtitan(torchtitan.parse_toml(text, path.name), path.name, self.collector)
        elif suffix == ".json" or text.lstrip().startswith("{"):
            read_deepspeed(text, path.name, self.collector)
        else:
            self._read_script(text, path)

    def _read_script(self, text: str, path: Path) -> None:
        script = read_script(text, path.name)
        slurm = read_directives(script.directives, path.name, self.collector) if script.directives else {}
        flags = [replace(flag, values=tuple(expand(each, slurm) for each in flag.values)) for flag in script.flags]
        arguments = Arguments.of(flags, path.name, self.collector)
        self._read_remarks(script, path)
        known = self._read_flags(arguments, path)
        if not known and not script.directives:
            raise InputError(
                Message("{file}: no flag of Megatron, the Trainer, torchtitan or a launcher in it", file=path.name)
            )

    def _read_remarks(self, script: Script, path: Path) -> None:
        for comment in script.comments:
            match = _WORLD_SIZE.search(comment)
            if match is not None:
                self.collector.put("world_size", int(match[1]), f"{path.name}: comment '{comment}'")
        world = script.variables.get("WORLD_SIZE", "")
        if world.isdecimal() and int(world) > 0:
            self.collector.put("world_size", int(world), f"{path.name}: WORLD_SIZE")
        read_environment(script.variables, path.name, self.collector)
        if script.late_directives:
            self.collector.warnings.append(
                Message(
                    "{file}: Slurm ignores '#SBATCH {directive}', which stands after the first command",
                    file=path.name,
                    directive=script.late_directives[0],
                )
            )
        if script.is_conditional:
            self.collector.notes.append(
                Message("{file}: conditions are not evaluated; flags inside them count as given", file=path.name)
            )

    def _read_flags(self, arguments: Arguments, path: Path) -> bool:
        read_launchers(arguments)
        known = arguments.has("nnodes", "nproc_per_node", "num_processes", "num_gpus", *_DEEPSPEED_FLAGS)
        if arguments.has(*megatron.SIGNATURE):
            megatron.read_megatron(arguments)
            known = True
        elif arguments.has(*trainer.SIGNATURE, *_DEEPSPEED_FLAGS):
            trainer.read_trainer(arguments)
            self.trainers.append(arguments)
            known = True
        self._follow_deepspeed(arguments, path)
        return self._follow_torchtitan(arguments, path) or known

    def _follow_deepspeed(self, arguments: Arguments, path: Path) -> None:
        for name in _DEEPSPEED_FLAGS:
            named = arguments.text(name) if arguments.has(name) and arguments.flags[name].values else None
            if named is None:
                continue
            preset = _PRESET.fullmatch(named)
            if preset is not None and not (path.parent / named).exists():
                where = arguments.where(name)
                self.collector.put("recipe", "deepspeed", where)
                self.collector.put("sharding", Sharding(int(preset[1])), where)
                if preset[2]:
                    parts = {"optimizer"} if preset[1] == "2" else {"optimizer", "parameters"}
                    self.collector.put("offload", frozenset(parts), where)
            elif named.endswith(".json"):
                self._follow(arguments, name, named, path)

    def _follow_torchtitan(self, arguments: Arguments, path: Path) -> bool:
        name = "job.config_file"
        named = arguments.text(name) if arguments.has(name) else None
        overrides = {
            flag.name: (flag.values[0] if flag.values else "true")
            for flag in arguments.flags.values()
            if flag.name.split(".")[0] in torchtitan.SECTIONS and not flag.is_unresolved
        }
        if overrides:
            torchtitan_values = dict(overrides)
            if named is not None and (path.parent / named).is_file():
                file = path.parent / named
                torchtitan_values = torchtitan.parse_toml(read_text(file), file.name) | overrides
                self.seen.add(file.resolve())
                self.collector.files.append(file.name)
            torchtitan.read_torchtitan(torchtitan_values, path.name, self.collector)
        elif named is not None:
            self._follow(arguments, name, named, path)
        return named is not None or bool(overrides)

    def _follow(self, arguments: Arguments, name: str, named: str, path: Path) -> None:
        """Read a file that a flag names, relative to the script."""
        target = path.parent / named
        if target.is_file():
            self.read(target)
        elif not any(seen.name == Path(named).name for seen in self.seen):
            self.collector.missing.append(
                Message(
                    "{option}: {where} names {file}, which is not beside the script",
                    option="--from-launch",
                    where=arguments.where(name),
                    file=named,
                )
            )


def read_text(path: Path) -> str:
    """Read a small text file, UTF-8 with or without a mark, or GBK.

    Raises:
        InputError: The file is absent, a folder, too large, or no text.
    """
    if path.is_dir():
        raise InputError(Message("{file} is a folder; name the launch file in it", file=str(path)))
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(
            Message("{file} cannot be read: {reason}", file=str(path), reason=error.strerror or "unknown")
        ) from error
    if len(content) > _LARGEST_BYTES or b"\x00" in content:
        raise InputError(Message("{file} is no text of a launch script or configuration", file=path.name))
    return decode_text(content, path.name)
