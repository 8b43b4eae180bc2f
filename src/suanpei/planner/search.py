"""The search: every option and number of accelerators, its best strategy, its run and cost; ranked and explained."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.physics.evaluate import evaluate as evaluate_physics
from suanpei.physics.run import RunAssumptions, estimate_runs
from suanpei.physics.setting import ERROR_CLASSES, classify_step
from suanpei.physics.step_uncertainty import bound_step_factor, measure_risk, spread_step_time
from suanpei.physics.workload import build_workload
from suanpei.planner.enumerate import PRACTICAL, Space
from suanpei.planner.frontier import find_frontier
from suanpei.planner.knee import Knee, build_curve, find_knee
from suanpei.planner.listing import Listed, best_choice, list_choices, price_ties
from suanpei.planner.option_table import OptionTable, group_options
from suanpei.planner.options import Choice, ClusterOption, Constraints, Objective
from suanpei.planner.pool import CandidatePool
from suanpei.planner.rejections import Reason, Rejection, Tallies
from suanpei.planner.relax import explain_failure
from suanpei.planner.scan import Evaluate, Scanner

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from suanpei.job.job import Job
    from suanpei.machine.calibration import Calibration
    from suanpei.physics.recipe import Recipe
    from suanpei.physics.run import Runs
    from suanpei.physics.uncertainty import Spread
    from suanpei.planner.options import Found

    FloatArray = NDArray[np.float64]

Progress = Callable[[int, int], None]
"""Called with the clusters done and all clusters."""


@dataclass(frozen=True, kw_only=True)
class SearchSettings:
    """How a search ranks and what it assumes."""

    constraints: Constraints = field(default_factory=Constraints)
    objective: Objective = "cost"
    top: int = 5
    day_value: float | None = None
    """What one day saved is worth, in the search's currency; None leaves that sign out of the knee."""
    run: RunAssumptions = field(default_factory=RunAssumptions)
    space: Space = PRACTICAL


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """What a search found."""

    listed: tuple[Listed, ...]
    """Rows in order; each keeps deadline and budget with the confidence asked for."""
    choices: tuple[Choice, ...]
    """Per cluster and number of accelerators on which the job fits and that no bound dropped: the options that no other
    beats there in cost and in the run that deadline and budget allow; of equals the first."""
    frontier: tuple[Choice, ...]
    """Choices that no other beats in cost, time and risk together."""
    curve: tuple[Choice, ...]
    """The first row's cluster on every number of accelerators, each at its cheapest price, constraints set aside."""
    knee: Knee | None
    """The knee of `curve`."""
    rejected: tuple[Rejection, ...]
    candidates: int
    """Legal strategies whose full memory and time were evaluated."""
    pruned: int
    """Legal strategies that a bound dropped."""
    failure: Message | None
    """Why nothing is listed, and the nearest change that would help; None where something is."""


class _Search:
    """One search while it runs."""

    def __init__(
        self,
        job: Job,
        options: Sequence[ClusterOption],
        recipes: Sequence[Recipe],
        calibration: Calibration,
        settings: SearchSettings,
        evaluate: Evaluate,
    ) -> None:
        if job.tokens is None:
            raise InputError(Message("tokens: a plan needs to know how much is trained; give tokens, samples or data"))
        confidence = settings.constraints.confidence
        if not 0.0 < confidence < 1.0:
            raise InputError(
                Message("confidence must lie between 0 and 1, both excluded, got {confidence}", confidence=confidence)
            )
        self.job = job
        self.tokens = float(job.tokens)
        self.settings = settings
        self.tables = group_options(options, settings.run.spare_nodes)
        self.calibration = calibration
        self.least_factors = {name: bound_step_factor(calibration.evidence, name, confidence) for name in ERROR_CLASSES}
        work = build_workload(job)
        self.scanner = Scanner(
            work=work,
            recipes=tuple(recipes),
            calibration=calibration,
            tokens=self.tokens,
            pool=CandidatePool(work, calibration, settings.space),
            evaluate=evaluate,
            tallies=Tallies(),
        )

    def count_anew(self) -> None:
        """Start the counts of candidates and reasons again."""
        self.scanner = replace(self.scanner, tallies=Tallies())

    def choose(self, table: OptionTable, *, limited: bool) -> list[Choice]:
        """Scan one cluster and price what it finds, for the options of a table."""
        constraints = self.settings.constraints
        if limited and constraints.budget is not None:
            priced = self._priced(table)
            if priced is None:
                return []
            table = priced
        # without knowing the size of a checkpoint, what the budget pays is a bound from above
        training_limits_s = self._training_limits_s(table, table.limits_s(constraints), limited=limited)
        risk = self._measure_risk(table)
        found = self.scanner.scan(table.cluster, training_limits_s, risk, by_checkpoint=table.bills_checkpoints)
        choices = [choice for entries in found for choice in self._choices(table, entries, limited=limited)]
        # without limits the nearest change is sought among all
        return self._drop_beaten(table, choices) if limited and len(found) > 1 else choices

    def _drop_beaten(self, table: OptionTable, choices: Sequence[Choice]) -> list[Choice]:
        """Of choices of one option and number that differ in their checkpoints, drop what another beats in all."""
        rows = {id(option): row for row, option in enumerate(table.options)}
        alike: defaultdict[tuple[int, int], list[Choice]] = defaultdict(list)
        for choice in choices:
            alike[rows[id(choice.option)], choice.gpus].append(choice)
        kept = [choice for place in sorted(alike) for choice in _frontier(alike[place])]
        dropped = {id(choice.found) for choice in choices} - {id(choice.found) for choice in kept}
        self.scanner.add_slower(table.cluster, len(dropped))
        return kept

    def _priced(self, table: OptionTable) -> OptionTable | None:
        """Keep the options with a price: without one, nothing shows that a budget is kept."""
        without = [option for option in table.options if option.price_per_gpu_hour is None]
        if not without:
            return table
        example = Message("on {accelerator}", accelerator=table.cluster.accelerator.name)
        self.scanner.tallies.add(Reason.UNPRICED, sum(len(option.counts) for option in without), example)
        return table.of_priced()

    def _measure_risk(self, table: OptionTable) -> float:
        """Give what the confidence asked for adds to a time that is all work; nothing without a limit to keep."""
        constraints = self.settings.constraints
        if constraints.is_open:
            return 0.0
        error_class = classify_step(self.job, table.cluster, table.counts[-1])
        return measure_risk(self.calibration.evidence, error_class, constraints.confidence)

    def _training_limits_s(self, table: OptionTable, limits_s: FloatArray, *, limited: bool) -> dict[int, float]:
        """Give, by number of accelerators, the longest training time that could keep the constraints.

        Set-up, checkpoints and stops only add to it, so its confidence quantile must be within the limit.
        """
        if not limited:
            return dict.fromkeys(table.counts, inf)
        longest_s = np.where(table.offered, limits_s, 0.0).max(axis=0)
        return {
            count: float(longest) / self.least_factors[classify_step(self.job, table.cluster, count)]
            for count, longest in zip(table.counts, longest_s, strict=True)
        }

    def _choices(self, table: OptionTable, found: Mapping[int, Found], *, limited: bool) -> list[Choice]:
        """Price every option on the numbers found; keep what no other option beats there."""
        groups = self._runs(table, found)
        columns = {count: column for column, count in enumerate(table.counts)}
        durations_s, sure_s, recovery_s = (np.full(len(columns), np.nan) for _ in range(3))
        for runs, counts in groups:
            mine = [columns[count] for count in counts]
            durations_s[mine] = runs.central_s
            recovery_s[mine] = runs.recovery_s
            if not limited:
                sure_s[mine] = runs.quantile_s(self.settings.constraints.confidence)
        checkpoint_bytes = np.array([found[count].checkpoint_bytes if count in found else 0.0 for count in columns])
        limits_s = table.limits_s(self.settings.constraints, checkpoint_bytes)
        # without limits the nearest change is sought, which counts what a run costs at the confidence asked for
        also = () if limited else (table.costs(sure_s, checkpoint_bytes),)
        reached = [columns[count] for count in sorted(found)]
        cells = table.find_unbeaten(reached, table.costs(durations_s, checkpoint_bytes, recovery_s), limits_s, also)
        choices: dict[tuple[int, int], Choice] = {}
        for runs, counts in groups:
            places = {columns[count]: position for position, count in enumerate(counts)}
            priced = [(row, column) for row, column in cells if column in places]
            positions = [places[column] for _, column in priced]
            limit_s = np.array([limits_s[cell] for cell in priced])
            probability = runs.take(np.array(positions, dtype=np.intp)).probability_within(limit_s)
            for cell, position, kept in zip(priced, positions, probability, strict=True):
                choices[cell] = Choice(
                    option=table.options[cell[0]],
                    found=found[table.counts[cell[1]]],
                    runs=runs,
                    run_index=position,
                    deadline_s=self.settings.constraints.deadline_s,
                    probability=float(kept),
                    rented_gpus=int(table.rented[cell]),
                )
        return [choices[cell] for cell in cells]

    def _runs(self, table: OptionTable, found: Mapping[int, Found]) -> list[tuple[Runs, list[int]]]:
        """Estimate the runs on each number; those of one distribution together, each with its own scale."""
        alike: dict[Spread, dict[int, float]] = defaultdict(dict)
        for count, entry in sorted(found.items()):
            spread = spread_step_time(self.calibration.evidence, entry.setting)
            alike[replace(spread, scale=1.0, evidence=())][count] = spread.scale
        return [
            (self._runs_of([found[count] for count in scales], table, spread, scales), list(scales))
            for spread, scales in alike.items()
        ]

    def _runs_of(
        self, entries: Sequence[Found], table: OptionTable, spread: Spread, scales: Mapping[int, float]
    ) -> Runs:
        return estimate_runs(
            np.array([entry.step_s for entry in entries]),
            np.array([entry.tokens_per_step for entry in entries]),
            np.array(list(scales), dtype=np.float64),
            tokens=self.tokens,
            gpus_per_node=table.cluster.gpus_per_node,
            checkpoint_bytes=np.array([entry.checkpoint_bytes for entry in entries]),
            spread=spread,
            spread_scale=np.array(list(scales.values())),
            assumptions=self.settings.run,
        )


def search(
    job: Job,
    options: Sequence[ClusterOption],
    recipes: Sequence[Recipe],
    calibration: Calibration,
    settings: SearchSettings | None = None,
    evaluate: Evaluate = evaluate_physics,
    progress: Progress | None = None,
) -> SearchResult:
    """Search every option, number of accelerators, recipe and strategy.

    Args:
        job: What is trained, on how many tokens. [-]
        options: What can be rented. [-]
        recipes: Frameworks to consider; each runs on the stacks that it names. [-]
        calibration: Achievable rates and residuals. [-]
        settings: Constraints, objective, assumptions; None takes all defaults. [-]
        evaluate: The full evaluation of memory and time. [-]
        progress: Told about the clusters done. [-]

    Returns:
        The ranked rows, the frontier, the knee and why the rest fell out.

    Raises:
        InputError: the job does not say how many tokens are trained, or the confidence is no probability.
    """
    settings = settings or SearchSettings()
    running = _Search(job, options, recipes, calibration, settings, evaluate)
    choices: list[Choice] = []
    for done, table in enumerate(running.tables):
        if progress is not None:
            progress(done, len(running.tables))
        choices += running.choose(table, limited=True)
    if progress is not None:
        progress(len(running.tables), len(running.tables))
    constraints = settings.constraints
    if not any(choice.probability >= constraints.confidence for choice in choices):
        # nothing keeps the limits: look again without them, for what comes nearest
        running.count_anew()
        choices = [choice for table in running.tables for choice in running.choose(table, limited=False)]
    tallies = running.scanner.tallies
    ranked = price_ties(choices)
    _count_improbable(tallies, ranked, constraints)
    best = best_choice(ranked, constraints, settings.objective)
    curve = () if best is None else _curve(running, best)
    knee = find_knee(build_curve(curve), settings.day_value)
    at_knee = next((choice for choice in curve if knee is not None and choice.gpus == knee.recommended_gpus), None)
    listed = list_choices(ranked, at_knee, constraints, settings.objective, settings.top)
    return SearchResult(
        listed=listed,
        choices=ranked,
        frontier=_frontier(ranked),
        curve=curve,
        knee=knee,
        rejected=tallies.rejections(),
        candidates=tallies.candidates,
        pruned=tallies.pruned,
        failure=None if listed else explain_failure(ranked, constraints, tallies),
    )


def _curve(running: _Search, best: Choice) -> tuple[Choice, ...]:
    """Give the best choice's cluster on every number of accelerators on offer, each at its cheapest price.

    Constraints are set aside, and the evaluations stay outside the counts of the search.
    """
    running.count_anew()
    cheapest: dict[int, Choice] = {}
    for table in running.tables:
        if table.cluster is best.option.cluster:
            for choice in sorted(
                running.choose(table, limited=False), key=lambda choice: (_by_cost(choice), choice.days)
            ):
                cheapest.setdefault(choice.gpus, choice)
    return tuple(cheapest[gpus] for gpus in sorted(cheapest))


def _by_cost(choice: Choice) -> float:
    return inf if choice.cost is None else choice.cost


def _count_improbable(tallies: Tallies, choices: Sequence[Choice], constraints: Constraints) -> None:
    for choice in choices:
        if choice.probability < constraints.confidence:
            example = Message(
                "{gpus} × {accelerator}: {days} days, kept with probability {probability}",
                gpus=choice.gpus,
                accelerator=choice.accelerator,
                days=f"{choice.days:.1f}",
                probability=f"{choice.probability:.3f}",
            )
            tallies.add(Reason.PROBABILITY, 1, example, 1.0 - choice.probability)


def _frontier(choices: Sequence[Choice]) -> tuple[Choice, ...]:
    """Give what no other choice beats in cost, time and risk."""
    if not choices:
        return ()
    mask = find_frontier(
        [_by_cost(choice) for choice in choices],
        [choice.days for choice in choices],
        [1.0 - choice.probability for choice in choices],
    )
    return tuple(choice for choice, kept in zip(choices, mask, strict=True) if kept)
