"""Errors that a user can act on.

SuanpeiError
├── InputError       bad input: exit code 2, one line (what, where, what would be right)
├── NoAnswerError    nothing satisfies the constraints: exit code 1, the binding one and what would relax it
└── MissingExtraError  an optional dependency is not installed: exit code 2 and its install line
"""

from __future__ import annotations

from json import JSONDecodeError

from suanpei.messages import Message


class SuanpeiError(Exception):
    """Base of every error that Suanpei raises on purpose; carries an untranslated message."""

    exit_code = 2

    def __init__(self, message: Message) -> None:
        super().__init__(message)
        self.message = message

    def __str__(self) -> str:
        return str(self.message)


class InputError(SuanpeiError):
    """The input is wrong: the message names the field, what it got and what it takes."""

    exit_code = 2


class NoAnswerError(SuanpeiError):
    """The input is right and nothing satisfies it: names the binding constraint and the nearest change that would."""

    exit_code = 1


class MissingExtraError(SuanpeiError):
    """A feature needs an optional dependency: the message holds the install line."""

    exit_code = 2

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(
            Message(
                "this needs {package}, which is not installed: pip install 'suanpei[{extra}]'",
                package=package,
                extra=extra,
            )
        )


def say_why_no_json(error: ValueError | RecursionError) -> Message:
    """Say what is wrong with a file that should be JSON, in the reader's language.

    Args:
        error: What reading or parsing it raised. [-]
    """
    if isinstance(error, JSONDecodeError):
        return Message("line {line}, character {column} is not as JSON has it", line=error.lineno, column=error.colno)
    if isinstance(error, UnicodeDecodeError):
        return Message("UTF-8 text is expected, and byte {offset} is none; save it as UTF-8", offset=error.start + 1)
    if isinstance(error, RecursionError):
        return Message("it is nested too deeply")
    if str(error) in ("NaN", "Infinity", "-Infinity"):
        return Message("{number} is no number", number=str(error))
    return Message("a number has too many digits")
