"""`rfq`: from a plan to the same request for quotation for every seller."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from suanpei.errors import InputError, say_why_no_json
from suanpei.machine.catalogue import load_catalogue
from suanpei.market.rfq.plan_document import parse_plan
from suanpei.market.rfq.requirements import list_requirements
from suanpei.market.rfq.specification import build_specification
from suanpei.market.rfq.words import FormLanguage, form_version
from suanpei.messages import Message
from suanpei.verbs.envelope import VerbResult, to_jsonable

if TYPE_CHECKING:
    from suanpei.market.rfq.requirements import RequirementGroup
    from suanpei.market.rfq.specification import Specification

SUFFIX = ".xlsx"
_LONGEST_NAME = 80
"""Of a seller, in characters."""
_NOT_IN_FILE_NAMES = re.compile(r'[\\/:*?"<>|\s]+')


@dataclass(frozen=True, kw_only=True)
class RfqRequest:
    """What the user asks for."""

    plan: Path
    """JSON of a plan."""
    language: FormLanguage
    """Of the forms."""
    rank: int = 1
    out: Path | None = None
    """File of the form; None names it after the cards. With sellers, their names are added."""
    seller: tuple[str, ...] = ()
    """One form for each; none makes one without a name."""
    catalog: Path | None = None
    """None takes the one that the plan was made with."""


@dataclass(frozen=True, kw_only=True)
class FormFile:
    """One form to be written."""

    seller: str
    """Empty is filled by the seller."""
    path: Path


@dataclass(frozen=True, kw_only=True)
class RfqResult(VerbResult):
    """One specification, and the forms that carry it."""

    language: FormLanguage
    form_version: int
    specification: Specification
    requirements: tuple[RequirementGroup, ...]
    forms: tuple[FormFile, ...]


def request_quotes(request: RfqRequest) -> RfqResult:
    """Work out a request for quotation; the forms themselves are written by ``report.workbook``.

    Args:
        request: What the user asks for. [-]

    Returns:
        The specification with its wording, and the files to write, none of which exists.

    Raises:
        InputError: The plan cannot be read, has no such rank, or a file cannot be written there.
    """
    plan = parse_plan(_read(request.plan), str(request.plan))
    catalogue = load_catalogue(request.catalog or plan.request.catalog)
    specification = build_specification(plan, request.rank, catalogue)
    return RfqResult(
        catalog_date=catalogue.catalog_date,
        calibration_id=None,
        request=to_jsonable(request),
        assumptions=specification.assumptions,
        language=request.language,
        form_version=form_version(),
        specification=specification,
        requirements=list_requirements(specification),
        forms=_name_forms(request, specification),
    )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(Message("{file} cannot be read: {why}", file=str(path), why=str(error.strerror))) from error
    except UnicodeDecodeError as error:
        raise InputError(
            Message("{path} is not JSON: {reason}", path=str(path), reason=say_why_no_json(error))
        ) from error


def _name_forms(request: RfqRequest, specification: Specification) -> tuple[FormFile, ...]:
    """Name the file of each seller's form, and see that it can be written and replaces nothing."""
    out = request.out or Path(f"rfq-{specification.gpus}x{specification.accelerator}{SUFFIX}")
    if out.suffix.lower() != SUFFIX:
        raise InputError(Message("out: {path} must end in {suffix}", path=str(out), suffix=SUFFIX))
    if not out.parent.is_dir():
        raise InputError(Message("out: the folder {folder} does not exist", folder=str(out.parent)))
    sellers = [_check_seller(name) for name in request.seller]
    if not sellers:
        forms = [FormFile(seller="", path=out)]
    else:
        forms = [
            FormFile(seller=name, path=out.with_name(f"{out.stem}-{_NOT_IN_FILE_NAMES.sub('_', name)}{out.suffix}"))
            for name in sellers
        ]
    seen: dict[str, str] = {}
    for form in forms:
        if form.path.exists():
            raise InputError(
                Message(
                    "out: {path} exists, and a seller may have filled it: delete it or name another file",
                    path=str(form.path),
                )
            )
        name = form.path.name.casefold()
        if name in seen:
            raise InputError(
                Message("seller: {first} and {second} would share one file", first=seen[name], second=form.seller)
            )
        seen[name] = form.seller
    return tuple(forms)


def _check_seller(name: str) -> str:
    plain = " ".join(name.split())
    if not plain or len(plain) > _LONGEST_NAME or not plain.isprintable():
        raise InputError(
            Message(
                "seller takes a name of 1 to {most} printable characters, got '{given}'",
                most=_LONGEST_NAME,
                given=plain[:_LONGEST_NAME],
            )
        )
    return plain
