from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from itertools import pairwise

import jsonschema
import pytest

from suanpei.errors import InputError
from suanpei.machine.accelerator_table import load_accelerators
from suanpei.machine.cluster import build_cluster
from suanpei.market.indicative import IndicativePrice, PriceTerms, quote_indicative
from suanpei.market.price_rows import load_exchange_rates, load_prices
from suanpei.physics.evaluate import evaluate
from suanpei.physics.uncertainty import Fit
from suanpei.planner.enumerate import enumerate_strategies
from suanpei.verbs.envelope import to_envelope
from suanpei.verbs.inputs import load_inputs
from suanpei.verbs.job_request import JobRequest, build_job
from suanpei.verbs.schema import describe_schema
from suanpei.verbs.sizes import SizesRequest, build_sizes, choose_common

DAY = date(2026, 11, 30)
INPUTS = load_inputs(None)
TABLE = build_sizes(SizesRequest(as_of=DAY, currency="CNY", sizes=("1B", "7B"), gpu=("4090", "A800", "H20 96G")))


@pytest.mark.parametrize(("size", "method"), [("1B", "full"), ("7B", "qlora"), ("7B", "full")])
@pytest.mark.parametrize("name", ["RTX-4090", "A800-SXM4-80GB"])
def test_a_cell_is_what_brute_force_finds(size: str, method: str, name: str) -> None:
    row = next(row for row in TABLE.rows if (row.size, row.method) == (size, method))
    cell = next(cell for cell in row.cells if cell.accelerator == name)
    job = build_job(JobRequest(model=size, method=method), INPUTS.catalogue, needs_data=False)
    cluster = build_cluster(INPUTS.catalogue, load_accelerators(INPUTS.catalogue)[name])
    fastest: dict[int, float] = {}
    for gpus in (1, 2, 4, 8, 16):
        for recipe in INPUTS.current_recipes:
            strategies = enumerate_strategies(job, cluster, recipe, gpus)
            if not len(strategies):
                continue
            estimates = evaluate(job, cluster, recipe, INPUTS.calibration, strategies)
            days = estimates.step_s / estimates.tokens_per_step * 1e9 / 86_400
            for row_days in days[estimates.fit == Fit.FITS]:
                fastest[gpus] = min(fastest.get(gpus, float("inf")), float(row_days))
    assert cell.gpus == min(fastest)
    assert cell.days_per_billion_tokens == pytest.approx(fastest[cell.gpus], rel=1e-12)


def test_full_training_needs_at_least_its_states_and_time_at_least_its_products() -> None:
    peak_flops_per_s = {"RTX-4090": 165.2e12, "A800-SXM4-80GB": 312e12, "H20-SXM5-96GB": 148e12}
    for row in TABLE.rows:
        for cell in row.cells:
            if row.method in ("pretrain", "full"):
                # 16 bytes per parameter: 16-bit weights and gradients, fp32 weights and two moments less what is shared
                assert cell.memory_bytes > 12 * row.total_parameters
            passes = 6 if row.method in ("pretrain", "full") else 4
            # an embedding costs no product: the vocabulary's rows are at most a quarter of these sizes
            least_s = passes * 0.75 * row.total_parameters * 1e9 / (cell.gpus * peak_flops_per_s[cell.accelerator])
            assert cell.days_per_billion_tokens > least_s / 86_400


def test_known_answers() -> None:
    cards = {(row.size, row.method, cell.accelerator): cell.gpus for row in TABLE.rows for cell in row.cells}
    # QLoRA of a 7B model runs on one 24 GB card (Dettmers et al., arXiv 2305.14314, figure 6); LoRA of one in 16 bits
    # needs 14 GB for the frozen weights and fits with recomputation
    assert cards["7B", "qlora", "RTX-4090"] == 1
    assert cards["7B", "lora", "RTX-4090"] == 1
    # full tuning: 16 · 7e9 = 112 GB of states do not fit on one card of 80 GB and do on two
    assert cards["7B", "full", "A800-SXM4-80GB"] == 2


def test_more_memory_never_needs_more_cards() -> None:
    for row in TABLE.rows:
        gpus = {cell.accelerator: cell.gpus for cell in row.cells}
        assert gpus["RTX-4090"] >= gpus["A800-SXM4-80GB"] >= gpus["H20-SXM5-96GB"]


def test_costs_are_price_times_cards_times_hours() -> None:
    prices = {card.accelerator: card.price_per_gpu_hour for card in TABLE.cards}
    for row in TABLE.rows:
        for cell in row.cells:
            price, cost = prices[cell.accelerator], cell.cost_per_billion_tokens
            assert price is not None
            assert cost is not None
            assert cell.low_cost is not None
            assert cell.high_cost is not None
            assert cell.low_cost <= cost <= cell.high_cost
            if cell.gpus <= 8:
                assert cost.currency == "CNY"
                expected = float(price.amount) * cell.gpus * cell.days_per_billion_tokens * 24
                assert float(cost.amount) == pytest.approx(expected, rel=1e-9)
        assert row.cheapest in row.cells
        assert row.smallest in row.cells
        assert row.cheapest is not None
        assert all(row.cheapest.cost_per_billion_tokens <= cell.cost_per_billion_tokens for cell in row.cells)  # type: ignore[operator]


def test_the_usual_cards_are_one_of_each_memory_class_and_the_most_sold() -> None:
    catalogue = INPUTS.catalogue
    rates = load_exchange_rates(catalogue)
    terms = PriceTerms(currency="USD", rates=rates, as_of=DAY)
    table = load_prices(catalogue)
    prices: dict[str, IndicativePrice] = {}
    for name in table:
        if quoted := quote_indicative(table, name, nodes=1, terms=terms):
            prices[name] = quoted[0]
    chosen = choose_common(load_accelerators(catalogue).values(), prices, frozenset({"ampere", "hopper"}))
    gibs = [card.marketed_bytes / 2**30 for card in chosen]
    assert all(after >= 1.1 * before for before, after in pairwise(gibs))
    names = [card.name for card in chosen]
    # 80 GB: A100 SXM and H100 SXM are sold by fifteen each, A100 is the cheaper; no bf16 on Volta and Turing
    assert "A100-SXM4-80GB" in names
    assert "H100-SXM5-80GB" not in names
    assert not {"T4", "V100-SXM2-16GB"} & set(names)
    assert prices["A100-SXM4-80GB"].median.amount < Decimal(2)


def test_results_keep_to_their_schema() -> None:
    document = json.loads(json.dumps(to_envelope(TABLE), allow_nan=False))
    jsonschema.validate(document, describe_schema("sizes"))
    assert document["rows"][0]["cells"][0]["days_per_billion_tokens"] > 0


@pytest.mark.parametrize(
    ("request_fields", "words"),
    [
        ({"method": ("dpo",)}, "method takes one of .*qlora.*, got 'dpo'"),
        ({"sizes": ("seven",)}, "size"),
        ({"sizes": ("1K",)}, "20M to 2T"),
        ({"gpu": ("A100",)}, "ambiguous"),
        ({"currency": "XYZ"}, "XYZ"),
    ],
)
def test_bad_input_is_refused(request_fields: dict[str, object], words: str) -> None:
    fields: dict[str, object] = {"as_of": DAY, "currency": "USD", "sizes": ("1B",), "method": ("lora",)}
    with pytest.raises(InputError, match=words):
        build_sizes(SizesRequest(**(fields | request_fields)))  # type: ignore[arg-type]
