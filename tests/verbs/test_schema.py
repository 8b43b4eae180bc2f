from __future__ import annotations

import jsonschema
import pytest

from suanpei.errors import InputError
from suanpei.verbs import schema
from suanpei.verbs.schema import RESULT_TYPES, describe_schema


def test_every_result_type_has_a_valid_schema() -> None:
    for name in RESULT_TYPES:
        document = describe_schema(name)
        jsonschema.Draft202012Validator.check_schema(document)
        assert document["title"] == f"suanpei {name}"
        assert {"suanpei_version", "schema_version", "request", "assumptions"} <= set(document["required"])


def test_an_unknown_name_is_refused_with_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "RESULT_TYPES", {"estimate": "suanpei.physics.estimate:Estimate", "plan": "x:Y"})
    with pytest.raises(InputError, match=r"there is no schema 'estimat'; did you mean estimate\?"):
        describe_schema("estimat")
    with pytest.raises(InputError, match=r"there is no schema 'zzz'; there are:"):
        describe_schema("zzz")


def test_types_imported_for_type_checking_only_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(schema, "RESULT_TYPES", {"estimate": "suanpei.physics.estimate:Estimate"})
    document = describe_schema("estimate")
    assert document["$defs"]["Strategy"]["properties"]["sharding"] == {"enum": ["none", "zero1", "zero2", "zero3"]}
    assert document["properties"]["evidence"]["items"] == {"$ref": "#/$defs/Message"}
