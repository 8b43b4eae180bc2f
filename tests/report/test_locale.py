from __future__ import annotations

import ast
import string
import tomllib
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from suanpei.errors import InputError
from suanpei.messages import Message
from suanpei.report.locale import load_templates, resolve_language, translate

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = Path(__file__).parents[2] / "src" / "suanpei"
CHINESE = sorted((SOURCE / "report" / "locale" / "zh").glob("*.toml"))


def calls() -> Iterator[tuple[str, ast.Call]]:
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                yield f"{file.relative_to(SOURCE)}:{node.lineno}", node


def called_name(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")


def literal(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def used_keys() -> dict[str, str]:
    """Every literal key in the source with one place of use: messages, labels, and the help texts of options."""
    keys: dict[str, str] = {}
    for place, node in calls():
        if called_name(node) in ("Message", "translate") and node.args:
            key = literal(node.args[0])
            if key is not None:
                keys[key] = place
        if place.startswith("app/cli"):
            for keyword in node.keywords:
                key = literal(keyword.value) if keyword.arg == "help" else None
                if key is not None:
                    keys[key] = place
    return keys


def placeholders(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


def test_no_key_is_built_from_pieces() -> None:
    built = [
        place
        for place, node in calls()
        if (called_name(node) == "Message" and (not node.args or literal(node.args[0]) is None))
        or (called_name(node) == "translate" and isinstance(node.args[0], ast.JoinedStr | ast.BinOp))
    ]
    assert built == []


def test_every_key_has_a_chinese_template() -> None:
    chinese = load_templates("zh")
    missing = {key: place for key, place in used_keys().items() if key not in chinese}
    assert missing == {}


def test_every_chinese_template_has_the_placeholders_of_its_key() -> None:
    wrong = [key for key, text in load_templates("zh").items() if placeholders(key) != placeholders(text)]
    assert wrong == []


def test_no_chinese_template_is_left_over() -> None:
    used = used_keys()
    assert [key for key in load_templates("zh") if key not in used] == []


def test_no_key_is_translated_in_two_ways() -> None:
    found: dict[str, set[str]] = defaultdict(set)
    for file in CHINESE:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
        assert list(document) == ["messages"], file.name
        for key, text in document["messages"].items():
            found[key].add(text)
    assert {key: texts for key, texts in found.items() if len(texts) > 1} == {}


def test_chinese_templates_are_chinese() -> None:
    assert CHINESE
    same = [key for key, text in load_templates("zh").items() if key == text and any(map(str.isalpha, key))]
    assert same == []


def test_a_message_is_said_in_either_language_with_messages_inside() -> None:
    message = Message(
        "{field}: '{given}' has no unit; it takes {takes}",
        field="--deadline",
        given="20",
        takes=Message("a positive whole number such as 16"),
    )
    assert translate(message, "en") == "--deadline: '20' has no unit; it takes a positive whole number such as 16"
    assert translate(message, "zh") == "--deadline：“20”缺少单位；应为正整数，例如 16"


def test_lists_are_joined_as_the_language_does() -> None:
    message = Message("there is no command '{given}'; there are: {known}", given="x", known=["plan", "sizes"])
    assert translate(message, "en").endswith("there are: plan, sizes")
    assert translate(message, "zh").endswith("现有命令：plan、sizes")


def test_an_unknown_key_is_said_in_english() -> None:
    assert translate(Message("nothing says {this}", this=1), "zh") == "nothing says 1"


@pytest.mark.parametrize(
    ("option", "environment", "expected"),
    [
        ("zh", {"SUANPEI_LANG": "en"}, "zh"),
        ("zh-CN", {}, "zh"),
        (None, {"SUANPEI_LANG": "zh", "LANG": "en_US.UTF-8"}, "zh"),
        (None, {"LC_ALL": "zh_CN.UTF-8", "LANG": "en_US.UTF-8"}, "zh"),
        (None, {"LC_MESSAGES": "zh_CN.UTF-8", "LANG": "en_US.UTF-8"}, "zh"),
        (None, {"LANG": "zh_CN.GBK"}, "zh"),
        (None, {"LC_ALL": "C.UTF-8", "LANG": "zh_CN.UTF-8"}, "en"),
        (None, {"LANG": "de_DE.UTF-8"}, "en"),
        (None, {}, "en"),
    ],
)
def test_the_language_is_found(
    monkeypatch: pytest.MonkeyPatch, option: str | None, environment: dict[str, str], expected: str
) -> None:
    for name in ("SUANPEI_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert resolve_language(option) == expected


def test_an_unknown_language_is_refused_where_it_was_given(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="--lang takes zh or en, got 'fr'"):
        resolve_language("fr")
    monkeypatch.setenv("SUANPEI_LANG", "fr")
    with pytest.raises(InputError, match="SUANPEI_LANG takes zh or en, got 'fr'"):
        resolve_language(None)
