"""Launch files: what a training run's own files say about it.

`read_launch` reads Megatron arguments, DeepSpeed JSON, torchtitan TOML and job scripts (sbatch, torchrun, accelerate,
Trainer flags), follows the configuration files that they name, and says what is missing or contradictory. Nothing is
executed. `complete` sets what the command line adds.
"""

from __future__ import annotations

from suanpei.verbs.launch.batch import BatchCheck, check_batch, find_grad_accum
from suanpei.verbs.launch.read import read_launch
from suanpei.verbs.launch.resolve import complete
from suanpei.verbs.launch.settings import LaunchSettings

__all__ = ["BatchCheck", "LaunchSettings", "check_batch", "complete", "find_grad_accum", "read_launch"]
