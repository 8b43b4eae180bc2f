"""Which part of a record is trained on: plain text, chats, instructions, questions and answers.

Layouts as public data sets and tuning frameworks write them: Alpaca (``instruction``, ``input``, ``output``), ShareGPT
(``conversations`` of ``from`` and ``value``), OpenAI (``messages`` of ``role`` and ``content``), and Chinese spellings.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from suanpei.errors import InputError
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

LayoutKind = Literal["text", "chat", "turns"]

Turns = list[tuple[str, str]]
"""What a record says, as role and text in order."""

_CHAT_FIELDS = ("messages", "conversations", "conversation", "dialog", "dialogue", "对话")
_TURN_FIELDS: tuple[tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]], ...] = (
    (("instruction", "指令"), ("input", "输入"), ("output", "response", "completion", "输出", "回答")),
    (("prompt", "提示"), (), ("response", "completion", "output", "answer", "回答", "回复")),
    (("question", "问题", "提问"), (), ("answer", "response", "output", "回答", "答案", "答复")),
    (("query", "查询"), (), ("response", "answer", "output", "回答")),
    (("input", "输入", "source"), (), ("output", "target", "输出")),
)
"""Request, what may follow it, and answer."""
_TEXT_FIELDS = ("text", "content", "文本", "正文", "内容", "document", "body", "raw_content")
_ROLES = ("role", "from", "speaker", "角色")
_CONTENTS = ("content", "value", "text", "内容")
_ROLE_NAMES = {"human": "user", "gpt": "assistant", "bot": "assistant", "用户": "user", "助手": "assistant"}
_LONG_ENOUGH = 16
"""A field with a shorter text is a label or a date rather than something to train on. [characters]"""
_PREFERENCES = frozenset({"chosen", "rejected"})


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How the records of one file are read."""

    kind: LayoutKind
    fields: tuple[str, ...]
    """Fields taken: for ``turns`` request, addition and answer, an empty name where there is none."""
    left_out: tuple[str, ...] = ()
    """Fields with text that are not counted."""

    @property
    def label(self) -> str:
        """The fields as shown to the user."""
        return "+".join(field for field in self.fields if field)


def detect_layout(record: Any, file: str, field: str | None) -> Layout:
    """Find out what to count from a file's first record.

    Args:
        record: The record: text, or named fields. [-]
        file: Its file, for messages. [-]
        field: Fields that the user named, separated by commas, each maybe a dotted path; None detects. [-]

    Returns:
        The layout. [-]

    Raises:
        InputError: The named field is not there, or no field is clearly the text.
    """
    if isinstance(record, str):
        return Layout(kind="text", fields=("",))
    if not isinstance(record, dict):
        raise InputError(
            Message(
                "{file}: a record must be text or have named fields, the first is {value}",
                file=file,
                value=_shorten(record),
            )
        )
    if field is not None:
        return _named_layout(record, file, field)
    found = _find_layout(record)
    if found is None:
        raise InputError(
            Message(
                "{file}: which field is the text? It has {fields}; name it with --field",
                file=file,
                fields=", ".join(str(name) for name in record) or "none",
            )
        )
    left_out = tuple(
        str(name)
        for name, value in record.items()
        if name not in (*found.fields, "system") and isinstance(value, str) and len(value) >= _LONG_ENOUGH
    )
    return Layout(kind=found.kind, fields=found.fields, left_out=left_out)


def _find_layout(record: Mapping[str, Any]) -> Layout | None:
    for name in _CHAT_FIELDS:
        if _is_chat(record.get(name)):
            return Layout(kind="chat", fields=(name,))
    if record.keys() >= _PREFERENCES:
        return None
    for requests, additions, answers in _TURN_FIELDS:
        request = _first(record, requests)
        answer = _first(record, answers)
        if request and answer:
            return Layout(kind="turns", fields=(request, _first(record, additions), answer))
    text = _first(record, _TEXT_FIELDS)
    if text and isinstance(record[text], str):
        return Layout(kind="text", fields=(text,))
    texts = [name for name, value in record.items() if isinstance(value, str)]
    return Layout(kind="text", fields=(texts[0],)) if len(texts) == 1 else None


def _first(record: Mapping[str, Any], names: Sequence[str]) -> str:
    return next((name for name in names if name in record), "")


def _is_chat(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(turn, dict) and _first(turn, _ROLES) and _first(turn, _CONTENTS) for turn in value)
    )


def _named_layout(record: Mapping[str, Any], file: str, field: str) -> Layout:
    names = tuple(name.strip() for name in field.split(",") if name.strip())
    missing = [name for name in names if _look_up(record, name) is _ABSENT]
    if missing or not names:
        raise InputError(
            Message(
                "{file}: --field {field} is not there; it has {fields}",
                file=file,
                field=missing[0] if missing else field,
                fields=", ".join(str(name) for name in record) or "none",
            )
        )
    if len(names) == 1 and _is_chat(_look_up(record, names[0])):
        return Layout(kind="chat", fields=names)
    return Layout(kind="text", fields=names)


_ABSENT = object()


def _look_up(record: Any, path: str) -> Any:
    if isinstance(record, dict) and path in record:
        return record[path]
    for part in path.split("."):
        if not isinstance(record, dict) or part not in record:
            return _ABSENT
        record = record[part]
    return record


def read_turns(record: Any, layout: Layout, file: str, number: int) -> Turns:
    """Give what a record says as turns of role and text; plain text is one turn with an empty role. [-]

    Raises:
        InputError: A field of the layout is not there, or is no text.
    """
    if isinstance(record, str):
        return [("", record)]
    values = [_look_up(record, name) if name else "" for name in layout.fields]
    for name, value in zip(layout.fields, values, strict=True):
        if value is _ABSENT:
            raise InputError(
                Message(
                    "{file}, record {number}: no field {field}, which the first record has",
                    file=file,
                    number=number,
                    field=name,
                )
            )
    if layout.kind == "chat":
        return [*_system(record), *(_read_turn(turn, file, number) for turn in values[0] or ())]
    texts = [_as_text(value, file, number) for value in values]
    if layout.kind == "text":
        return [("", "\n".join(text for text in texts if text))]
    request, addition, answer = texts
    earlier = _history(record.get("history"))
    return [
        *_system(record),
        *earlier,
        ("user", f"{request}\n{addition}" if addition else request),
        ("assistant", answer),
    ]


def _system(record: Any) -> Turns:
    text = record.get("system") if isinstance(record, dict) else None
    return [("system", text)] if isinstance(text, str) and text else []


def _history(history: Any) -> Turns:
    turns: Turns = []
    for pair in history if isinstance(history, list) else ():
        if isinstance(pair, list) and len(pair) == len(("user", "assistant")):
            turns += [("user", str(pair[0])), ("assistant", str(pair[1]))]
    return turns


def _read_turn(turn: Any, file: str, number: int) -> tuple[str, str]:
    if not isinstance(turn, dict) or not _first(turn, _CONTENTS):
        raise InputError(
            Message("{file}, record {number}: a turn of the chat has no content", file=file, number=number)
        )
    role = str(turn.get(_first(turn, _ROLES), "user"))
    content = turn[_first(turn, _CONTENTS)]
    if isinstance(content, list):
        # parts of a multimodal message: the text ones count
        content = "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    calls = turn.get("tool_calls")
    text = _as_text(content, file, number) + (json.dumps(calls, ensure_ascii=False) if calls else "")
    return _ROLE_NAMES.get(role, role), text


def _as_text(value: Any, file: str, number: int) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, int | float):
        return str(value)
    raise InputError(
        Message("{file}, record {number}: expected text, got {value}", file=file, number=number, value=_shorten(value))
    )


def _shorten(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
