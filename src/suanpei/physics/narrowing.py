"""What would make a predicted step time surer: the width of its interval under each remedy that applies."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from suanpei.messages import Message
from suanpei.physics.setting import classify_step, uses_assumed_fabric
from suanpei.physics.step_uncertainty import spread_measured_step, spread_step_time

if TYPE_CHECKING:
    from suanpei.job.job import Job
    from suanpei.machine.calibration import Evidence
    from suanpei.machine.cluster import Cluster
    from suanpei.physics.setting import Setting
    from suanpei.physics.uncertainty import Spread


@dataclass(frozen=True, kw_only=True)
class Remedy:
    """One thing to measure or to name."""

    action: Message
    width: float
    """High over low end of the 90 % interval of the step time that it leaves. [-]"""


def list_remedies(evidence: Evidence, setting: Setting, job: Job, cluster: Cluster) -> tuple[Remedy, ...]:
    """List what narrows the interval of a step time, the most effective first.

    Args:
        evidence: What was measured. [-]
        setting: Where the step is asked for. [-]
        job: What is trained. [-]
        cluster: On what. [-]

    Returns:
        Remedies that leave a narrower interval than the present one.
    """
    remedies = [
        Remedy(
            action=Message("measure a step of this configuration (suanpei estimate --measured-step)"),
            width=measure_width(spread_measured_step()),
        )
    ]
    if uses_assumed_fabric(cluster, setting.gpus):
        named = replace(
            setting,
            fabric=cluster.scale_out.technology,
            error_class=classify_step(job, replace(cluster, fabric_is_assumed=False), setting.gpus),
        )
        remedies.append(
            Remedy(
                action=Message(
                    "name the network (--fabric), here assumed to be {fabric}", fabric=cluster.scale_out.name
                ),
                width=measure_width(spread_step_time(evidence, named)),
            )
        )
    present = measure_width(spread_step_time(evidence, setting))
    return tuple(sorted((one for one in remedies if one.width < present), key=lambda one: one.width))


def measure_width(spread: Spread) -> float:
    """Give the high over the low end of the 90 % interval. [-]"""
    low, high = spread.interval(1.0)
    return high / low
