"""Plans as ``suanpei plan --json`` wrote them, by this version or another: what a comparison needs, checked."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from suanpei.physics.rule_of_thumb import USUAL_UTILISATION
from suanpei.units import DAY_S
from suanpei.verbs.result_file import read_plan, refuse_plan

if TYPE_CHECKING:
    from pathlib import Path

_LEAST, _MOST = Decimal("1e-30"), Decimal("1e30")
_USUAL_UTILISATION = Fraction(repr(USUAL_UTILISATION))
"""As it is written, 2/5. [-]"""

Above0 = Annotated[Decimal, Field(ge=_LEAST, le=_MOST)]
AtLeast0 = Annotated[Decimal, Field(ge=0, le=_MOST)]
Signed = Annotated[Decimal, Field(ge=-_MOST, le=_MOST)]
Count = Annotated[int, Field(ge=1, le=10**9)]
Text = Annotated[str, Field(max_length=10_000)]


class _Entry(BaseModel):
    """Keys of other versions are passed over."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class SaidEntry(_Entry):
    """A message: its template, and its text in the language that the file was written in."""

    key: Text
    values: dict[str, Any] = {}
    text: Text


class MoneyEntry(_Entry):
    """An amount with its currency."""

    amount: Above0
    currency: Text


class TaxEntry(_Entry):
    """What a seller says of tax."""

    state: Text = "unknown"


class OfferEntry(_Entry):
    """The offer behind a plan."""

    provider: Text
    price: MoneyEntry
    tax: TaxEntry = TaxEntry()


class BandEntry(_Entry):
    """The indicative price behind a plan."""

    tier: Text
    median: Above0


class PartEntry(_Entry):
    """One line of a bill."""

    name: SaidEntry
    amount: Signed
    parts: list[PartEntry] = []


class CostEntry(_Entry):
    """A bill."""

    currency: Text
    total: Above0
    """As quoted."""
    ranked_total: Above0 | None = None
    """With tax at its worst reading; plans of older versions do not have it."""
    low_tax_in: Above0 | None = None
    high_tax_in: Above0 | None = None
    """The ends of the bill with tax; plans of older versions do not have them."""
    paid_hours: Above0
    paid_gpus: Count
    parts: list[PartEntry] = []


class RunEntry(_Entry):
    """The run."""

    days: Above0
    low_days: Above0 | None = None
    high_days: Above0 | None = None
    goodput: Above0
    steps: Count
    parts: dict[str, AtLeast0]


class StepEntry(_Entry):
    """One optimizer step."""

    seconds: Above0
    parts: dict[str, AtLeast0]


class EstimateEntry(_Entry):
    """The estimate of one configuration."""

    mfu: Above0
    tokens_per_step: Above0
    step: StepEntry
    error_class: Text | None = Field(default=None, alias="class")
    """Of the validation, whose errors the interval rests on."""


class RuleEntry(_Entry):
    """The rule of thumb, from which the peak follows."""

    flops_6nd: Above0
    days_at_40_percent: Above0


class PlanEntry(_Entry):
    """One plan."""

    rank: Count
    accelerator: Text
    gpus: Count
    nodes: Count
    fabric: Text
    recipe: Text
    strategy: dict[str, Any]
    offer: OfferEntry | None = None
    indicative_price: BandEntry | None = None
    cost: CostEntry | None = None
    run: RunEntry
    estimate: EstimateEntry
    rule_of_thumb: RuleEntry

    @property
    def has_tax(self) -> bool:
        """Whether the total with tax is known."""
        return self.cost is not None and self.cost.ranked_total is not None

    @property
    def price_per_gpu_hour(self) -> tuple[Fraction, str] | None:
        """The price that the bill rests on, and its field; None without one."""
        if self.offer is not None:
            return Fraction(self.offer.price.amount), "offer.price.amount"
        if self.indicative_price is not None:
            return Fraction(self.indicative_price.median), "indicative_price.median"
        return None

    @property
    def run_steps_s(self) -> Fraction:
        """Useful time of the run. [s]"""
        return Fraction(self.run.parts["run_steps"])

    @property
    def peak_flops_per_s(self) -> Fraction:
        """Dense peak of one accelerator: the rule of thumb at 40 % gives it back. [FLOP/s]"""
        rule = self.rule_of_thumb
        return Fraction(rule.flops_6nd) / (
            _USUAL_UTILISATION * self.gpus * Fraction(rule.days_at_40_percent) * Fraction(DAY_S)
        )


class PlanDocument(_Entry):
    """A whole result."""

    suanpei_version: Text
    schema_version: int
    catalog_date: Text
    calibration_id: Text | None
    request: dict[str, Any]
    assumptions: list[SaidEntry]
    currency: Text
    rates: list[Text] = []
    plans: Annotated[list[PlanEntry], Field(min_length=1)]


def read_plan_document(path: Path, field: str) -> PlanDocument:
    """Read a plan's JSON result.

    Args:
        path: As ``--json`` or ``--report`` wrote it. [-]
        field: The option that named it, for the error. [-]

    Returns:
        The plans, every number exactly as it is written in the file.

    Raises:
        InputError: the file cannot be read or is no plan; the first key that is missing or wrong is named.
    """
    read = read_plan(path, field, PlanDocument, parse_float=Decimal)
    for number, plan in enumerate(read.plans):
        if not plan.run.parts.get("run_steps"):
            raise refuse_plan(path, field, f"plans.{number}.run.parts.run_steps")
    return read
