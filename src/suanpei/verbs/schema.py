"""The verb ``schema``: the JSON schema of a command's result."""

from __future__ import annotations

import difflib
import importlib
from typing import Any

from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.verbs.json_schema import build_schema

RESULT_TYPES: dict[str, str] = {
    "plan": "suanpei.verbs.plan:PlanResult",
    "compare": "suanpei.verbs.compare:CompareResult",
    "compare-plans": "suanpei.verbs.compare_plans:ComparePlansResult",
    "quotes": "suanpei.verbs.quotes:QuotesResult",
    "estimate": "suanpei.verbs.estimate:EstimateResult",
    "models": "suanpei.verbs.models:ModelsResult",
    "tokens": "suanpei.verbs.tokens:TokensResult",
    "gpus": "suanpei.verbs.gpus:GpusResult",
    "rfq": "suanpei.verbs.rfq:RfqResult",
    "sizes": "suanpei.verbs.sizes:SizesResult",
    "mix": "suanpei.verbs.mix:MixResult",
    "validate": "suanpei.verbs.validate:ValidateResult",
    "fit": "suanpei.verbs.fit:RefitResult",
}
"""By command: module and class of what its verb returns, imported when asked for."""


def describe_schema(name: str) -> dict[str, Any]:
    """Build the JSON schema of what a command prints with ``--json``.

    Args:
        name: The command.

    Returns:
        A schema of the 2020-12 dialect.

    Raises:
        InputError: No command of that name has a result.
    """
    if name not in RESULT_TYPES:
        near = difflib.get_close_matches(name, RESULT_TYPES, n=1)
        raise InputError(
            Message(
                "there is no schema '{given}'; did you mean {near}? There are: {known}",
                given=name,
                near=near[0],
                known=sorted(RESULT_TYPES),
            )
            if near
            else Message("there is no schema '{given}'; there are: {known}", given=name, known=sorted(RESULT_TYPES))
        )
    module_name, _, class_name = RESULT_TYPES[name].partition(":")
    return build_schema(getattr(importlib.import_module(module_name), class_name), f"suanpei {name}")
