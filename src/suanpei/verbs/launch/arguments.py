"""The flags of one script, read by type: each error names the file and the flag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Iterable

    from suanpei.verbs.launch.settings import Collector
    from suanpei.verbs.launch.shell import Flag

_TRUE = frozenset({"true", "1", "yes", "on"})
_FALSE = frozenset({"false", "0", "no", "off"})


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Flags by name, at most one value each."""

    file: str
    flags: dict[str, Flag]
    collector: Collector

    @classmethod
    def of(cls, flags: Iterable[Flag], file: str, collector: Collector) -> Arguments:
        """Index the flags.

        Raises:
            InputError: One flag is given twice with different values.
        """
        index: dict[str, Flag] = {}
        for flag in flags:
            earlier = index.setdefault(flag.name, flag)
            if earlier.values[:1] != flag.values[:1]:
                raise InputError(
                    Message(
                        "{file}: {flag} is given twice, as {first} and as {second}; keep one",
                        file=file,
                        flag=flag.written,
                        first=" ".join(earlier.values[:1]) or "true",
                        second=" ".join(flag.values[:1]) or "true",
                    )
                )
        return cls(file=file, flags=index, collector=collector)

    def has(self, *names: str) -> bool:
        """Whether any of the flags is there."""
        return any(name in self.flags for name in names)

    def where(self, name: str) -> str:
        """Say where a flag stands: ``args.txt: --seq-length``."""
        return f"{self.file}: {self.flags[name].written}"

    def text(self, name: str) -> str | None:
        """Give the value of a flag; None where it is absent or depends on what the script does not set.

        Raises:
            InputError: The flag stands there without a value.
        """
        flag = self.flags.get(name)
        if flag is None or flag.is_unresolved:
            return None
        if not flag.values:
            raise InputError(Message("{file}: {flag} has no value", file=self.file, flag=flag.written))
        return flag.values[0]

    def integer(self, name: str, *, least: int = 1) -> int | None:
        """Give a whole number; None where it is absent or unknown.

        Raises:
            InputError: The value is no whole number, or below `least`.
        """
        text = self.text(name)
        if text is None:
            return None
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if number < least:
            raise InputError(
                Message(
                    "{file}: {flag} takes a whole number of at least {least}, got {value}",
                    file=self.file,
                    flag=self.flags[name].written,
                    least=least,
                    value=text,
                )
            )
        return number

    def number(self, name: str) -> float | None:
        """Give a positive number; None where it is absent or unknown.

        Raises:
            InputError: The value is no number above zero.
        """
        text = self.text(name)
        if text is None:
            return None
        try:
            number = float(text)
        except ValueError:
            number = 0.0
        if not 0 < number < float("inf"):
            raise InputError(
                Message(
                    "{file}: {flag} takes a number above zero, got {value}",
                    file=self.file,
                    flag=self.flags[name].written,
                    value=text,
                )
            )
        return number

    def switch(self, *names: str) -> bool:
        """Whether any of the flags is on: there without a value, or with ``true``."""
        return any(self._is_on(self.flags[name]) for name in names if name in self.flags)

    def _is_on(self, flag: Flag) -> bool:
        return not (flag.values and flag.values[0].lower() in _FALSE)

    def is_off(self, name: str) -> bool:
        """Whether the flag is there and switched off."""
        return name in self.flags and not self._is_on(self.flags[name])

    def put_integer(self, field: str, *names: str, least: int = 1) -> None:
        """Record the first of the flags that is there as the field, or as undetermined."""
        for name in names:
            if name not in self.flags:
                continue
            number = self.integer(name, least=least)
            if number is not None:
                self.collector.put(field, number, self.where(name))
            else:
                self.put_undetermined(field, name)

    def put_undetermined(self, field: str, name: str) -> None:
        """Record that a flag takes the field's value from something that the script does not set."""
        flag = self.flags[name]
        self.collector.undetermined[field] = Message(
            "{file}: {flag} takes its value from {variable}, which the file does not set",
            file=self.file,
            flag=flag.written,
            variable=flag.values[0],
        )

    def put_switch(self, field: str, value: object, *names: str) -> None:
        """Record `value` for the field where one of the switches is on."""
        for name in names:
            if name in self.flags and self.switch(name):
                self.collector.put(field, value, self.where(name))

    def warn_of_sizes(self, names: Iterable[str]) -> None:
        """List the flags that change sizes or time and are not modelled."""
        for name in names:
            if name in self.flags and self.switch(name):
                self.collector.warnings.append(
                    Message(
                        "{file}: {flag} changes sizes and is not modelled; the result is as if it were absent",
                        file=self.file,
                        flag=self.flags[name].written,
                    )
                )
