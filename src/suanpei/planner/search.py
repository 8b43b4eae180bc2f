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
from suanpei.planner.options import Choice, ClusterOption, Constraints, Objective
from suanpei.planner.pool import CandidatePool
from suanpei.planner.rejections import Reason, Rejection, Tallies
from suanpei.planner.relax import explain_failure
from suanpei.planner.scan import Evaluate, Scanner

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from suanpei.job.job import Job
    from suanpei.machine.calibration import Calibration
    from suanpei.machine.cluster import Cluster
    from suanpei.physics.recipe import Recipe
    from suanpei.physics.uncertainty import Spread
    from suanpei.planner.options import Found

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
    """Every option and number of accelerators on which the job fits and that no bound dropped."""
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
        self.options = tuple(options)
        self.settings = settings
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

    def clusters(self) -> list[tuple[Cluster, list[int]]]:
        """Group the options by cluster, in order of first appearance."""
        groups: dict[int, tuple[Cluster, list[int]]] = {}
        for index, option in enumerate(self.options):
            groups.setdefault(id(option.cluster), (option.cluster, []))[1].append(index)
        return list(groups.values())

    def choose(self, cluster: Cluster, indices: Sequence[int], *, limited: bool) -> list[Choice]:
        """Scan one cluster and price what it finds, for the options of these indices."""
        if limited and self.settings.constraints.budget is not None:
            indices = self._priced(indices)
        limits = self._training_limits_s(cluster, indices, limited=limited)
        found = self.scanner.scan(cluster, limits, self._measure_risk(cluster, indices)) if limits else {}
        choices: list[Choice] = []
        for index in indices:
            mine = {count: found[count] for count in sorted(set(self.options[index].counts)) if count in found}
            if mine:
                choices += self._choices(self.options[index], mine)
        return choices

    def _priced(self, indices: Sequence[int]) -> list[int]:
        """Keep the options with a price: without one, nothing shows that a budget is kept."""
        for index in indices:
            option = self.options[index]
            if option.price_per_gpu_hour is None:
                name = option.cluster.accelerator.name
                self.scanner.tallies.add(
                    Reason.UNPRICED, len(option.counts), Message("on {accelerator}", accelerator=name)
                )
        return [index for index in indices if self.options[index].price_per_gpu_hour is not None]

    def _measure_risk(self, cluster: Cluster, indices: Sequence[int]) -> float:
        """Give what the confidence asked for adds to a time that is all work; nothing without a limit to keep."""
        constraints = self.settings.constraints
        if constraints.is_open:
            return 0.0
        most = max(max(self.options[index].counts) for index in indices)
        error_class = classify_step(self.job, cluster, most)
        return measure_risk(self.calibration.evidence, error_class, constraints.confidence)

    def _training_limits_s(self, cluster: Cluster, indices: Sequence[int], *, limited: bool) -> dict[int, float]:
        """Give, by number of accelerators, the longest training time that could keep the constraints.

        Set-up, checkpoints and stops only add to it, so its confidence quantile must be within the limit.
        """
        limits: dict[int, float] = {}
        for index in indices:
            option = self.options[index]
            for count in option.counts:
                limit = inf
                if limited:
                    rented = option.rented_gpus(count, self.settings.run.spare_nodes)
                    limit = self.settings.constraints.limit_s(option, rented)
                    limit /= self.least_factors[classify_step(self.job, cluster, count)]
                limits[count] = max(limits.get(count, 0.0), limit)
        return limits

    def _choices(self, option: ClusterOption, found: Mapping[int, Found]) -> list[Choice]:
        # runs of one distribution are estimated together, each with its own scale
        alike: dict[Spread, dict[int, Found]] = defaultdict(dict)
        scales: dict[int, float] = {}
        for count, entry in found.items():
            spread = spread_step_time(self.calibration.evidence, entry.setting)
            alike[replace(spread, scale=1.0, evidence=())][count] = entry
            scales[count] = spread.scale
        return [
            choice
            for spread, members in alike.items()
            for choice in self._choices_of(option, members, spread, [scales[count] for count in members])
        ]

    def _choices_of(
        self, option: ClusterOption, found: Mapping[int, Found], spread: Spread, scales: Sequence[float]
    ) -> list[Choice]:
        settings = self.settings
        entries = list(found.values())
        runs = estimate_runs(
            np.array([entry.step_s for entry in entries]),
            np.array([entry.tokens_per_step for entry in entries]),
            np.array(list(found), dtype=np.float64),
            tokens=self.tokens,
            gpus_per_node=option.cluster.gpus_per_node,
            checkpoint_bytes=np.array([entry.checkpoint_bytes for entry in entries]),
            spread=spread,
            spread_scale=np.array(scales),
            assumptions=settings.run,
        )
        rented = [option.rented_gpus(count, settings.run.spare_nodes) for count in found]
        limit_s = np.array(
            [
                settings.constraints.limit_s(option, gpus, entry.checkpoint_bytes)
                for gpus, entry in zip(rented, entries, strict=True)
            ]
        )
        probability = runs.probability_within(limit_s)
        return [
            Choice(
                option=option,
                found=entry,
                runs=runs,
                run_index=position,
                deadline_s=settings.constraints.deadline_s,
                probability=float(probability[position]),
                rented_gpus=rented[position],
            )
            for position, entry in enumerate(entries)
        ]


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
    clusters = running.clusters()
    choices: list[Choice] = []
    for done, (cluster, indices) in enumerate(clusters):
        if progress is not None:
            progress(done, len(clusters))
        choices += running.choose(cluster, indices, limited=True)
    if progress is not None:
        progress(len(clusters), len(clusters))
    constraints = settings.constraints
    if not any(choice.probability >= constraints.confidence for choice in choices):
        # nothing keeps the limits: look again without them, for what comes nearest
        running.count_anew()
        choices = [
            choice for cluster, indices in clusters for choice in running.choose(cluster, indices, limited=False)
        ]
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
    cluster = best.option.cluster
    indices = [index for index, option in enumerate(running.options) if option.cluster is cluster]
    choices = running.choose(cluster, indices, limited=False)
    cheapest = {choice.gpus: choice for choice in sorted(choices, key=_by_cost, reverse=True)}
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
