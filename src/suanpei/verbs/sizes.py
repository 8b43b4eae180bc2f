"""The verb ``sizes``: the tier table, computed: model sizes against methods, and the smallest cards that hold each.

Of each memory class of the catalogue the table takes the card that most sellers rent out. A job stands on the fewest
cards on which the full evaluation of memory says ``fits``, under the strategy that is fastest there.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from suanpei.job.job import METHODS
from suanpei.machine.accelerator_table import load_accelerators
from suanpei.machine.cluster import build_cluster
from suanpei.machine.names import resolve_accelerator
from suanpei.market.indicative import PriceTerms, quote_indicative
from suanpei.market.price_rows import load_exchange_rates, load_prices
from suanpei.messages import Message
from suanpei.planner.enumerate import PRACTICAL
from suanpei.quantities import parse_choice, parse_currency, parse_parameters
from suanpei.units import DAY_S, HOUR_S
from suanpei.verbs.envelope import VerbResult, to_jsonable
from suanpei.verbs.inputs import load_inputs
from suanpei.verbs.job_request import JobRequest, build_job
from suanpei.verbs.size_search import LARGEST_GPUS, find_smallest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import date
    from pathlib import Path

    from suanpei.job.job import Job, Method
    from suanpei.machine.accelerator import Accelerator
    from suanpei.machine.cluster import Cluster
    from suanpei.market.indicative import IndicativePrice
    from suanpei.market.price_rows import PriceTable
    from suanpei.money import Money
    from suanpei.physics.strategy import Strategy
    from suanpei.verbs.inputs import Inputs
    from suanpei.verbs.size_search import Smallest

MODEL_SIZES: tuple[str, ...] = ("0.5B", "1B", "3B", "7B", "14B", "32B", "70B")
"""Sizes in which open models are published."""

CLASS_FRACTION = 0.1
"""Cards whose marketed memory differs by less stand in one class (94 and 96, 141 and 144, 180 to 192 GiB)."""

BILLION = 1e9


@dataclass(frozen=True, kw_only=True)
class SizesRequest:
    """What the user said."""

    as_of: date
    """The day from which the age of a price counts."""
    currency: str
    sizes: tuple[str, ...] = ()
    """Bare sizes; none takes `MODEL_SIZES`."""
    method: tuple[str, ...] = ()
    """None takes all."""
    gpu: tuple[str, ...] = ()
    """Accelerators in place of one of each memory class."""
    catalog: Path | None = None


@dataclass(frozen=True, kw_only=True)
class SizeCard:
    """An accelerator of the table, with its indicative price."""

    accelerator: str
    memory_bytes: float
    """Usable. [B]"""
    marketed_bytes: float
    """The label. [B]"""
    price_per_gpu_hour: Money | None
    """Median, one node or less; not an offer."""
    sellers: int
    """Sellers read for the price. [-]"""


@dataclass(frozen=True, kw_only=True)
class SizeCell:
    """The fewest cards of one kind that hold a job."""

    accelerator: str
    gpus: int
    memory_bytes: float
    """Usable, of all cards. [B]"""
    rent_per_hour: Money | None
    """Of all cards paid for, at the median price."""
    device_bytes: float
    """Needed on the fullest card. [B]"""
    recipe: str
    strategy: Strategy
    days_per_billion_tokens: float
    """Steps alone, without set-up, checkpoints and stops. [d]"""
    cost_per_billion_tokens: Money | None
    low_cost: Money | None
    high_cost: Money | None
    """The band of the price; None without one."""


@dataclass(frozen=True, kw_only=True)
class SizeRow:
    """One model size under one method."""

    size: str
    total_parameters: int
    method: Method
    seq_len: int
    global_batch_seqs: int
    cells: tuple[SizeCell, ...]
    """By accelerator, those that hold it."""
    smallest: SizeCell | None
    """The cell of the least rent per hour, of the least memory where none has a price."""
    cheapest: SizeCell | None
    """The cell of the least cost per token; None where none has a price."""


@dataclass(frozen=True, kw_only=True)
class SizesResult(VerbResult):
    """The tier table."""

    currency: str
    cards: tuple[SizeCard, ...]
    rows: tuple[SizeRow, ...]


def build_sizes(
    request: SizesRequest, report_progress: Callable[[int, int], None] = lambda _done, _total: None
) -> SizesResult:
    """Compute the tier table.

    Args:
        request: Sizes, methods and accelerators; none of them takes the usual ones.
        report_progress: Called with the rows done and all rows.

    Returns:
        A row per method and size, each cell the fewest cards that hold the job.

    Raises:
        InputError: a size, method, accelerator or currency that is wrong, naming it.
    """
    inputs = load_inputs(request.catalog)
    named = {parse_choice(method, "method", METHODS) for method in request.method}
    methods = [method for method in METHODS if not named or method in named]
    sizes = request.sizes or MODEL_SIZES
    for size in sizes:
        parse_parameters(size, "size")
    pricing = _Pricing.load(inputs, request)
    clusters, notes = _choose_clusters(request, inputs, pricing)
    rows: list[SizeRow] = []
    for method, size in product(methods, sizes):
        report_progress(len(rows), len(methods) * len(sizes))
        job = build_job(JobRequest(model=size, method=method), inputs.catalogue, needs_data=False)
        notes += [note for note in job.assumptions if note not in notes]
        found = find_smallest(job, clusters, inputs.current_recipes, inputs.calibration)
        rows.append(_row(size, job, [pricing.cell(cluster, item) for cluster, item in found]))
    return SizesResult(
        catalog_date=inputs.catalogue.catalog_date,
        calibration_id=inputs.calibration.calibration_id,
        request=to_jsonable(request),
        assumptions=(*_explain(), *notes, *PRACTICAL.messages()),
        currency=pricing.terms.currency,
        cards=tuple(pricing.card(cluster) for cluster in clusters),
        rows=tuple(rows),
    )


def _explain() -> tuple[Message, ...]:
    return (
        Message(
            "each job stands on the fewest cards, 1 to {most} in powers of two within a node and of nodes, on which its"
            " memory fits with its margin of error, under the strategy that is fastest there",
            most=LARGEST_GPUS,
        ),
        Message("days count the training steps alone: no set-up, checkpoints or stops"),
        Message(
            "costs are at the median indicative price per card-hour, not an offer; a price by the month is spread over"
            " its hours"
        ),
    )


@dataclass(frozen=True, kw_only=True)
class _Pricing:
    """Where prices come from."""

    table: PriceTable
    terms: PriceTerms

    @classmethod
    def load(cls, inputs: Inputs, request: SizesRequest) -> _Pricing:
        """Read the price rows and exchange rates of the catalogue."""
        return cls(
            table=load_prices(inputs.catalogue),
            terms=PriceTerms(
                currency=parse_currency(request.currency, "currency"),
                rates=load_exchange_rates(inputs.catalogue),
                as_of=request.as_of,
            ),
        )

    def price(self, name: str, nodes: int = 1) -> IndicativePrice | None:
        """Give the price of a card: the first that serves so many nodes."""
        return next(iter(quote_indicative(self.table, name, nodes=nodes, terms=self.terms)), None)

    def card(self, cluster: Cluster) -> SizeCard:
        """Describe a card."""
        accelerator = cluster.accelerator
        price = self.price(accelerator.name)
        return SizeCard(
            accelerator=accelerator.name,
            memory_bytes=accelerator.memory_bytes,
            marketed_bytes=accelerator.marketed_bytes,
            price_per_gpu_hour=None if price is None else price.median,
            sellers=0 if price is None else price.readings,
        )

    def cell(self, cluster: Cluster, found: Smallest) -> SizeCell:
        """Price what was found on a cluster."""
        accelerator, node = cluster.accelerator, cluster.gpus_per_node
        seconds = found.step_s / found.tokens_per_step * BILLION
        price = self.price(accelerator.name, nodes=-(-found.gpus // node))
        rents: list[Money | None] = [None, None, None]
        if price is not None:
            billed = price.unit_price.billed_gpus(found.gpus, node)
            rents = [money * billed for money in (price.median, price.low, price.high)]
        cost, low, high = (None if rent is None else rent * (seconds / HOUR_S) for rent in rents)
        return SizeCell(
            accelerator=accelerator.name,
            gpus=found.gpus,
            memory_bytes=found.gpus * accelerator.memory_bytes,
            rent_per_hour=rents[0],
            device_bytes=found.device_bytes,
            recipe=found.recipe,
            strategy=found.strategy,
            days_per_billion_tokens=seconds / DAY_S,
            cost_per_billion_tokens=cost,
            low_cost=low,
            high_cost=high,
        )


def _row(size: str, job: Job, cells: Sequence[SizeCell]) -> SizeRow:
    return SizeRow(
        size=size,
        total_parameters=job.architecture.total_parameters,
        method=job.method,
        seq_len=job.seq_len,
        global_batch_seqs=job.global_batch_seqs,
        cells=tuple(cells),
        smallest=_least(cells, lambda cell: cell.rent_per_hour)
        or min(cells, key=lambda cell: (cell.memory_bytes, cell.gpus), default=None),
        cheapest=_least(cells, lambda cell: cell.cost_per_billion_tokens),
    )


def _least(cells: Sequence[SizeCell], money_of: Callable[[SizeCell], Money | None]) -> SizeCell | None:
    """Give the cell of the least money; None where no cell has any."""
    priced = [(money.amount, index) for index, cell in enumerate(cells) if (money := money_of(cell)) is not None]
    return cells[min(priced)[1]] if priced else None


def _choose_clusters(
    request: SizesRequest, inputs: Inputs, pricing: _Pricing
) -> tuple[tuple[Cluster, ...], list[Message]]:
    """Take the accelerators that the user names, else one of each memory class."""
    catalogue = inputs.catalogue
    if request.gpu:
        resolved = [resolve_accelerator(catalogue, name) for name in request.gpu]
        named = {item.accelerator.name: build_cluster(catalogue, item.accelerator) for item in resolved}
        notes = [note for item in resolved for note in item.assumptions]
        notes += [note for cluster in named.values() for note in cluster.assumptions]
        return tuple(named.values()), list(dict.fromkeys(notes))
    chosen = choose_common(
        load_accelerators(catalogue).values(),
        {name: price for name in pricing.table if (price := pricing.price(name)) is not None},
        inputs.calibration.measured_generations,
    )
    return (
        tuple(build_cluster(catalogue, accelerator) for accelerator in chosen),
        [Message("of each memory size, the CUDA card that most sellers rent out in this currency")],
    )


def choose_common(
    accelerators: Iterable[Accelerator], prices: Mapping[str, IndicativePrice], measured: frozenset[str]
) -> list[Accelerator]:
    """Choose, of each memory class, the CUDA card that most sellers rent out.

    A generation that is measured goes before one that is not, a price read in the currency asked for before one that
    something stands in for, then more sellers, then the lower price.

    Args:
        accelerators: All of them. [-]
        prices: By name; a card without one is not chosen. [-]
        measured: Generations that measurements cover. [-]

    Returns:
        Accelerators, ascending by memory.
    """

    def rank(card: Accelerator) -> tuple[bool, int, int, float]:
        price = prices[card.name]
        return card.generation not in measured, len(price.substitutes), -price.readings, float(price.median.amount)

    rentable = sorted(
        (
            card
            for card in accelerators
            if card.stack == "cuda" and card.is_plannable and card.name in prices and card.peak_of("bf16")
        ),
        key=lambda card: card.marketed_bytes,
    )
    classes: list[list[Accelerator]] = []
    for card in rentable:
        if classes and card.marketed_bytes < (1.0 + CLASS_FRACTION) * classes[-1][0].marketed_bytes:
            classes[-1].append(card)
        else:
            classes.append([card])
    return [min(members, key=rank) for members in classes]
