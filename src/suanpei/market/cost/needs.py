"""What a run needs besides cards: for how long they are held, what is stored and moved, what stops cost."""

from __future__ import annotations

from dataclasses import dataclass

from suanpei.errors import InputError
from suanpei.messages import Message


@dataclass(frozen=True, kw_only=True)
class RunHours:
    """How long the machines are held."""

    likely_hours: float
    low_hours: float
    high_hours: float

    def __post_init__(self) -> None:
        """Check the order.

        Raises:
            InputError: Not 0 <= low <= likely <= high, or not finite.
        """
        if not 0 <= self.low_hours <= self.likely_hours <= self.high_hours < float("inf"):
            raise InputError(
                Message(
                    "hours must rise from low to high, got {low}, {likely}, {high}",
                    low=self.low_hours,
                    likely=self.likely_hours,
                    high=self.high_hours,
                )
            )


@dataclass(frozen=True, kw_only=True)
class DataSizes:
    """What a job stores and moves, whatever it is trained on; checkpoints depend on the framework and stand apart."""

    data_bytes: float
    """The data set, as it is pulled and stored. [B]"""
    image_bytes: float
    """The container image. [B]"""
    weights_in_bytes: float
    """The weights that the run starts from. [B]"""
    weights_out_bytes: float
    """The weights that are taken home beside the last checkpoint; 0 where the checkpoint holds all that is trained.
    [B]"""
    checkpoints_kept: int
    """Checkpoints that are stored at a time. [-]"""

    @property
    def moved_in_bytes(self) -> float:
        """What has to be brought to the machines: data set, image, weights. [B]"""
        return self.data_bytes + self.image_bytes + self.weights_in_bytes


@dataclass(frozen=True, kw_only=True)
class RunNeeds:
    """One run's needs. The hours are parts of `RunHours.likely_hours`, not additions to it."""

    sizes: DataSizes
    checkpoint_bytes: float
    """One checkpoint. [B]"""
    setup_hours: float
    """From delivery to the first useful step. [h]"""
    lost_work_hours: float
    """Work done since the last checkpoint and lost at stops. [h]"""
    recovery_hours: float
    """From stops until training goes on. [h]"""

    @property
    def stored_bytes(self) -> float:
        """What is stored while the cards are held: data set and checkpoints kept. [B]"""
        return self.sizes.data_bytes + self.sizes.checkpoints_kept * self.checkpoint_bytes

    @property
    def moved_out_bytes(self) -> float:
        """What is taken home: weights and the last checkpoint. [B]"""
        return self.sizes.weights_out_bytes + self.checkpoint_bytes

    @property
    def waste_hours(self) -> float:
        """Hours that stops cost. [h]"""
        return self.lost_work_hours + self.recovery_hours
