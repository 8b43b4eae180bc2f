"""The Python interface: the verbs as functions, with the options of the command line as keyword arguments.

A quantity is given as the text that the command line takes (``"20B"``, ``"20d"``, ``"500000CNY"``) or as a number; an
option that may be repeated takes one value or a sequence. Errors are `suanpei.errors.InputError` and `NoAnswerError`.
"""

from __future__ import annotations

import difflib
import os
from dataclasses import fields
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from suanpei.app.option_values import read_value, to_path, to_text
from suanpei.app.printed import print_well
from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.report.locale import home_currency, resolve_language

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from suanpei.job.count import ModuleCount
    from suanpei.verbs.compare import CompareResult
    from suanpei.verbs.compare_plans import ComparePlansResult
    from suanpei.verbs.estimate import EstimateResult
    from suanpei.verbs.fit import RefitResult
    from suanpei.verbs.gpus import GpusResult
    from suanpei.verbs.mix import MixResult
    from suanpei.verbs.models import ModelsResult
    from suanpei.verbs.plan import PlanResult
    from suanpei.verbs.quotes import QuotesResult
    from suanpei.verbs.rfq import RfqResult
    from suanpei.verbs.sizes import SizesResult
    from suanpei.verbs.tokens import TokensResult
    from suanpei.verbs.validate import ValidateResult

RequestT = TypeVar("RequestT")

PathText = str | os.PathLike[str]


def plan(model: PathText | None = None, **options: Any) -> PlanResult:
    """Plan a rental: the verb ``plan``.

    Args:
        model: A bundled name, a ``config.json``, its folder, a ``.safetensors`` file, or a size such as ``7B``. [-]
        **options: The options of ``suanpei plan`` with underscores: ``tokens="20B"``, ``deadline="20d"``,
            ``gpu=["A800", "H800"]``; `as_of` is the day from which prices age, today if left out. [-]

    Raises:
        InputError: an option is unknown, or its value wrong.
        NoAnswerError: nothing fits, or nothing keeps deadline and budget.
    """
    from suanpei.verbs.job_request import JobRequest
    from suanpei.verbs.plan import plan as run
    from suanpei.verbs.plan_request import PlanRequest

    given = _with_defaults({"model": model, **options})
    _check_names(given, JobRequest, PlanRequest)
    request = _fill(PlanRequest, given, job=_fill(JobRequest, given))
    return print_well(run(request), "plan", "render_plan")


def compare(
    model: PathText | None = None,
    *,
    quotes: PathText | Iterable[PathText] = (),
    plans: tuple[PathText, PathText] | None = None,
    rank: int | tuple[int, int] | None = None,
    **options: Any,
) -> CompareResult | ComparePlansResult:
    """Compare sellers on one job, or two plans: the verb ``compare``.

    Args:
        model: As of `plan`. [-]
        quotes: One or several files of quotes. [-]
        plans: Two JSON results of ``plan`` instead; nothing else goes with them but `rank`. [-]
        rank: Which plan of the two files: one number for both, or one for each; None is the first. [-]
        **options: The options of `plan`, but for ``offers``, ``price``, ``tier``, ``tenancy`` and ``top``. [-]

    Returns:
        A `CompareResult` of sellers, a `ComparePlansResult` of plans.

    Raises:
        InputError: an option is unknown, or its value or a file wrong.
        NoAnswerError: nothing fits, or no seller keeps deadline and budget.
    """
    files = read_value("quotes", "tuple[Path, ...]", quotes)
    if plans is not None:
        from suanpei.verbs.compare_plans import compare_plans, refuse_beside_plans

        if model is not None or files or options:
            raise refuse_beside_plans()
        paths = read_value("plans", "tuple[Path, ...]", plans)
        if len(paths) != 2:
            raise InputError(Message("{field} takes {count} values, one after the other", field="plans", count=2))
        first, second = paths
        ranks = () if rank is None else (rank,) if isinstance(rank, int) else tuple(rank)
        return print_well(compare_plans(first, second, ranks), "compare_plans", "render_compare_plans")
    return _compare_quotes(model, files, rank, options)


def _compare_quotes(
    model: PathText | None, files: tuple[Path, ...], rank: int | tuple[int, int] | None, options: dict[str, Any]
) -> CompareResult:
    from suanpei.verbs.compare import compare_quotes
    from suanpei.verbs.job_request import JobRequest
    from suanpei.verbs.plan_request import PlanRequest

    if rank is not None:
        from suanpei.verbs.compare_plans import refuse_rank

        raise refuse_rank()
    for name, near in (("offers", "quotes"), ("top", "gpu")):
        if name in options:
            raise InputError(Message("there is no option {given}; did you mean {near}?", given=name, near=near))
    given = _with_defaults({"model": model, **options})
    _check_names(given, JobRequest, PlanRequest)
    request = _fill(PlanRequest, {**given, "offers": files}, job=_fill(JobRequest, given))
    return print_well(compare_quotes(request), "compare", "render_compare")


def estimate(model: PathText | None = None, **options: Any) -> EstimateResult:
    """Explain one configuration: the verb ``estimate``.

    Args:
        model: As of `plan`; may be left out where ``from_launch`` spells the model out. [-]
        **options: The options of ``suanpei estimate`` with underscores: ``gpu="A800"``, ``gpus=8``, ``tp=2``. [-]

    Raises:
        InputError: an option is unknown, or its value wrong.
        NoAnswerError: no strategy is legal on so many accelerators.
    """
    from suanpei.quantities import parse_bytes
    from suanpei.verbs.estimate import EstimateRequest
    from suanpei.verbs.estimate import estimate as run
    from suanpei.verbs.job_request import JobRequest
    from suanpei.verbs.strategy_request import StrategyRequest

    _check_names({name: "" for name in options if name == "host_memory_bytes"})
    given = {"model": model, **options}
    if (host_memory := given.pop("host_memory", None)) is not None:
        given["host_memory_bytes"] = parse_bytes(to_text("host_memory", host_memory), "host_memory")
    _check_names(given, JobRequest, StrategyRequest, EstimateRequest)
    job, strategy = _fill(JobRequest, given), _fill(StrategyRequest, given)
    request = _fill(EstimateRequest, given, job=job, strategy=strategy)
    return print_well(run(request), "estimate", "render_estimate")


def sizes(*sizes: str, **options: Any) -> SizesResult:
    """Compute the tier table: the verb ``sizes``.

    Args:
        *sizes: Model sizes such as ``"7B"``; none takes the usual ones. [-]
        **options: The options of ``suanpei sizes`` with underscores: ``method="lora"``, ``gpu=["4090"]``. [-]

    Raises:
        InputError: an option is unknown, or its value wrong.
    """
    from suanpei.verbs.sizes import SizesRequest, build_sizes

    given = _with_defaults({"sizes": sizes, **options})
    _check_names(given, SizesRequest)
    request = _fill(SizesRequest, given)
    return print_well(build_sizes(request), "sizes", "render_sizes")


def quotes(*files: PathText, **options: Any) -> QuotesResult:
    """Bring quotes as sellers write them onto one basis: the verb ``quotes``.

    Args:
        *files: Tables, lists and messages in CSV, XLSX, Markdown, HTML, DOCX, PDF or plain text. [-]
        **options: The options of ``suanpei quotes`` with underscores: ``currency="CNY"``, ``rate="USD=7.2CNY"``,
            ``live=True``; `pasted` is a message as text, `as_of` the day on which an offer must still hold, today if
            left out. [-]

    Raises:
        InputError: an option is unknown, or its value wrong, or nothing can be read.
        MissingExtraError: a file or live prices need a package that is not installed.
    """
    from suanpei.verbs.quotes import QuotesRequest, read_quote_files

    given = _with_defaults({"files": files, **options})
    _check_names(given, QuotesRequest)
    return print_well(read_quote_files(_fill(QuotesRequest, given)), "quotes", "render_quotes")


def rfq(plan: PathText, *, lang: str | None = None, **options: Any) -> RfqResult:
    """Write the same request for quotation for every seller: the verb ``rfq``.

    Args:
        plan: JSON of a plan, as ``suanpei plan … --report`` writes it. [-]
        lang: Language of the forms, ``zh`` or ``en``; None is the reader's. [-]
        **options: The options of ``suanpei rfq``: ``rank=2``, ``out="rfq.xlsx"``, ``seller=["甲云", "乙算力"]``. [-]

    Raises:
        InputError: the file is no plan, or an option is unknown, or its value wrong.
        MissingExtraError: openpyxl is not installed.
    """
    from suanpei.report.workbook.rfq_form import save_forms
    from suanpei.verbs.rfq import RfqRequest, request_quotes

    given = {"plan": to_path("plan", plan), **options}
    _check_names(given, RfqRequest)
    result = request_quotes(_fill(RfqRequest, given, language=resolve_language(lang)))
    save_forms(result)
    return print_well(result, "rfq", "render_rfq")


def tokens(files: PathText | Iterable[PathText], tokenizer: PathText, **options: Any) -> TokensResult:
    """Count the tokens of data files: the verb ``tokens``.

    Args:
        files: One or several files, folders or globs. [-]
        tokenizer: The model's ``tokenizer.json``, or its folder. [-]
        **options: The options of ``suanpei tokens`` with underscores: ``seq_len="4096"``, ``exact=True``. [-]

    Raises:
        InputError: an option is unknown, or its value or a file wrong.
        MissingExtraError: a parquet file without pyarrow.
    """
    from suanpei.verbs.tokens import TokensRequest, count_tokens

    given = {"files": files, "tokenizer": to_path("tokenizer", tokenizer), **options}
    _check_names(given, TokensRequest)
    return print_well(count_tokens(_fill(TokensRequest, given)), "tokens", "render_tokens")


def mix(demand: PathText | None = None, **options: Any) -> MixResult:
    """Find the cheapest mix of reserved and elastic capacity for a demand over time: the verb ``mix``.

    Args:
        demand: A CSV file of demand; None where ``phases`` says it. [-]
        **options: The options of ``suanpei mix`` with underscores: ``phases="train:64x20d, tune:8x60d"``,
            ``offers=["offers.csv"]``, ``trial="8x7d"``. [-]

    Raises:
        InputError: an option is unknown, or its value or a file wrong.
        NoAnswerError: the offers hold too few cards, or the solver found nothing in its time.
    """
    from suanpei.verbs.mix import find_mix
    from suanpei.verbs.mix_request import MixRequest

    given = _with_defaults({"demand": demand, **options})
    _check_names(given, MixRequest)
    return print_well(find_mix(_fill(MixRequest, given)), "mix", "render_mix")


def models(model: PathText | None = None, *, catalog: PathText | None = None) -> ModelsResult:
    """Show a model's architecture and parameters, or list all: the verb ``models``.

    Args:
        model: As of `plan`; None lists the bundled ones. [-]
        catalog: Folder with the user's own tables. [-]

    Raises:
        InputError: the model is unknown or cannot be read.
    """
    from suanpei.verbs.models import describe_models

    name = None if model is None else to_text("model", model)
    return print_well(describe_models(name, catalog=_to_path("catalog", catalog)), "models", "render_models")


def gpus(name: str | None = None, *, currency: str | None = None, catalog: PathText | None = None) -> GpusResult:
    """Show what is known of an accelerator, or list all: the verb ``gpus``.

    Args:
        name: Any usual spelling; None lists all. [-]
        currency: Of the prices; None is CNY in Chinese, USD otherwise. [-]
        catalog: Folder with the user's own tables. [-]

    Raises:
        InputError: the name is ambiguous or unknown, or the currency unknown.
    """
    from suanpei.verbs.gpus import describe_gpus

    result = describe_gpus(
        None if name is None else to_text("name", name),
        catalog=_to_path("catalog", catalog),
        currency=home_currency(resolve_language(None)) if currency is None else currency,
    )
    return print_well(result, "gpus", "render_gpus")


def validate(*files: PathText, catalog: PathText | None = None) -> ValidateResult:
    """Predict published measurements blind and show the errors: the verb ``validate``.

    Args:
        *files: Measurement files, each known by its header. [-]
        catalog: Folder with the user's own tables. [-]

    Raises:
        InputError: no file is given, or one cannot be read or is of no known kind.
    """
    from suanpei.verbs.validate import validate as run

    result = run([to_path("files", file) for file in files], catalog=_to_path("catalog", catalog))
    return print_well(result, "validate", "render_validate")


def fit(*cases: PathText, output: PathText | None = None, catalog: PathText | None = None) -> RefitResult:
    """Fit the calibration to published measurements: the verb ``fit``.

    Args:
        *cases: Measurement files; none takes ``data/validation`` of a clone. [-]
        output: File to write the calibration to; None writes none. [-]
        catalog: Folder with the user's own tables. [-]

    Raises:
        InputError: a file is missing or of no known kind.
        MissingExtraError: scipy is not installed.
    """
    from suanpei.verbs.fit import refit

    result = refit(
        [to_path("cases", file) for file in cases],
        output=_to_path("output", output),
        catalog=_to_path("catalog", catalog),
    )
    return print_well(result, "validate", "render_fit")


def count(module: Any, example: Any = None) -> ModuleCount:
    """Count the parameters of a torch module and, with an example input, its FLOPs per sample.

    Args:
        module: A ``torch.nn.Module``, on the meta device too. [-]
        example: Its input: a tensor, a tuple of arguments, or a dict of named arguments; None counts no FLOPs. [-]

    Raises:
        MissingExtraError: torch is not installed.
        InputError: the first argument is no module, or the module does not run on the example.
    """
    from suanpei.job.count import count as run

    return run(module, example)


def _with_defaults(given: dict[str, Any]) -> dict[str, Any]:
    """Add what the command line takes from the clock and the language."""
    given.setdefault("as_of", datetime.now(tz=UTC).date())
    if given.get("currency") is None:
        given["currency"] = home_currency(resolve_language(None))
    return given


def _check_names(given: dict[str, Any], *kinds: type[Any]) -> None:
    """Refuse an option that no request has.

    Raises:
        InputError: there is such an option.
    """
    known = [item.name for kind in kinds for item in fields(kind) if item.name not in ("job", "strategy")]
    for name in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            raise InputError(
                Message("there is no option {given}; did you mean {near}?", given=name, near=near[0])
                if near
                else Message("there is no option {given}", given=name)
            )


def _fill(kind: type[RequestT], given: dict[str, Any], **parts: Any) -> RequestT:
    """Build a request from those options that are its fields."""
    types = {item.name: str(item.type) for item in fields(kind) if item.name not in parts}  # type: ignore[arg-type]
    read = {name: read_value(name, types[name], given[name]) for name in types if given.get(name) is not None}
    return kind(**read, **parts)


def _to_path(field: str, value: PathText | None) -> Path | None:
    return None if value is None else to_path(field, value)
