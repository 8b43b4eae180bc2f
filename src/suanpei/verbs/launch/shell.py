"""Shell text as launch scripts use it: statements, comments, variables and flags. Nothing is executed.

Conditions, loops and command substitutions are not evaluated: a flag inside an ``if`` counts as given (and a note
says so), a value that needs a substitution is unknown.
"""

from __future__ import annotations

import ast
import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from suanpei.errors import InputError
from suanpei.messages import Message

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

_TOKEN = re.compile(
    r"""(?P<continued>\\\r?\n)
    |(?P<newline>\r?\n)
    |(?P<space>[ \t]+)
    |(?P<arithmetic>\$\(\([^\n]*?\)\))
    |(?P<command>\$\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)|`[^`\n]*`)
    |(?P<single>'[^']*')
    |(?P<double>"(?:[^"\\]|\\.)*")
    |(?P<escaped>\\.)
    |(?P<operator>&&|\|\||[;|&()])
    |(?P<comment>\#[^\n]*)
    |(?P<plain>[^\s\\'"`;|&()#$]+|[$#'"`\\])""",
    re.VERBOSE | re.DOTALL,
)
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)\+?=(.*)", re.DOTALL)
_VARIABLE = re.compile(r"\$\{(\w+)(?::?-([^}]*))?\}|\$(\w+)")
_ARITHMETIC = re.compile(r"\$\(\((.*?)\)\)")
_FLAG = re.compile(r"--([A-Za-z][\w.-]*)(?:=(.*))?", re.DOTALL)
_CONDITIONS = frozenset({"if", "case", "elif", "while", "for"})


@dataclass(frozen=True, kw_only=True)
class Flag:
    """One ``--name value`` of a script."""

    name: str
    """Without the dashes in front, inner dashes as underscores: ``tensor_model_parallel_size``."""
    written: str
    """As it stands in the file, for messages: ``--tensor-model-parallel-size``."""
    values: tuple[str, ...]
    """The words after it, variables filled in where the script sets them."""

    @property
    def is_unresolved(self) -> bool:
        """Whether its value needs something that the script does not set."""
        return bool(self.values) and "$" in self.values[0]


@dataclass(frozen=True, kw_only=True)
class Script:
    """A script, taken apart."""

    comments: tuple[str, ...]
    directives: tuple[str, ...]
    """What follows ``#SBATCH``, in order, up to the first command."""
    late_directives: tuple[str, ...]
    """``#SBATCH`` lines after the first command: Slurm ignores them."""
    variables: Mapping[str, str]
    flags: tuple[Flag, ...]
    is_conditional: bool
    """Whether the script has conditions, which are not evaluated."""


def read_script(text: str, file: str) -> Script:
    """Take a launch script or a plain list of arguments apart.

    Args:
        text: The script, any line ends. [-]
        file: Its name, for messages. [-]

    Returns:
        Comments, ``#SBATCH`` directives, variables and flags. [-]

    Raises:
        InputError: A quote is opened and never closed.

    Valid for: POSIX shells and bash arrays; here-documents are read as if they were commands.
    """
    statements: list[list[str]] = []
    comments: list[str] = []
    directives: list[str] = []
    late: list[str] = []
    for kind, words in _split_statements(text, file):
        if kind == "statement":
            statements.append(words)
        elif words[0].startswith("#SBATCH"):
            (late if statements else directives).append(words[0].removeprefix("#SBATCH").strip())
        else:
            comments.append(words[0].lstrip("#! ").strip())
    variables: dict[str, str] = {}
    flags: list[Flag] = []
    for words in statements:
        _read_assignments(words, variables)
        flags += _read_flags(_unpack(words), variables)
    return Script(
        comments=tuple(comments),
        directives=tuple(directives),
        late_directives=tuple(late),
        variables=variables,
        flags=tuple(flags),
        is_conditional=any(words[0] in _CONDITIONS for words in statements),
    )


def _split_statements(text: str, file: str) -> Iterator[tuple[str, list[str]]]:
    """Yield statements as words, and comments, in order of their ends."""
    words: list[str] = []
    word: str | None = None
    is_array = False
    for match in _TOKEN.finditer(text):
        kind, found = match.lastgroup or "plain", match.group()
        if kind == "plain" and found in "'\"":
            raise InputError(Message("{file}: a quotation mark is opened and never closed", file=file))
        if kind == "comment" and (word is None or word.endswith(" ")):
            yield "comment", [found.rstrip()]
        elif kind in ("single", "double"):
            word = (word or "") + _unquote(found)
        elif kind == "operator" and found == "(" and word is not None and word.endswith("="):
            is_array = True
            word += " "
        elif kind in ("continued", "newline", "space", "operator"):
            if is_array and found != ")":
                word = None if word is None else word + " "
                continue
            is_array = False
            if word is not None:
                words.append(word)
            word = None
            if kind in ("newline", "operator") and words:
                yield "statement", words
                words = []
        else:
            word = (word or "") + (found[1:] if kind == "escaped" else found)
    if word is not None:
        words.append(word)
    if words:
        yield "statement", words


def _unquote(quoted: str) -> str:
    inner = quoted[1:-1]
    return inner if quoted[0] == "'" else re.sub(r"\\(\r?\n)", " ", re.sub(r'\\(["\\$`])', r"\1", inner))


def _read_assignments(words: list[str], variables: dict[str, str]) -> None:
    for word in words:
        if word in ("export", "local", "declare", "readonly", "env", "-x"):
            continue
        match = _ASSIGNMENT.fullmatch(word)
        if match is None:
            return
        variables[match[1]] = expand(match[2].strip(), variables)


def _unpack(words: Iterable[str]) -> Iterator[str]:
    """Open up the assignments that hold arguments: ``ARGS="--bf16 --num-layers 32"``."""
    for word in words:
        match = _ASSIGNMENT.fullmatch(word)
        if match is not None and "--" in match[2]:
            yield from match[2].split()
        else:
            yield word


def _read_flags(words: Iterable[str], variables: Mapping[str, str]) -> Iterator[Flag]:
    name: re.Match[str] | None = None
    values: list[str] = []
    for word in (*words, "--end"):
        match = _FLAG.fullmatch(word)
        if match is None:
            values.append(word)
            continue
        if name is not None:
            if name[2] is not None:
                values = [name[2], *values]
            yield Flag(
                name=name[1].replace("-", "_"),
                written=f"--{name[1]}",
                values=tuple(expand(value, variables) for value in values),
            )
        name, values = match, []


def expand(text: str, variables: Mapping[str, str]) -> str:
    """Fill in the variables and integer arithmetic of a word; what the script does not set stays as written. [-]"""

    def fill(match: re.Match[str]) -> str:
        value = variables.get(match[1] or match[3])
        if value is not None:
            return value
        return match[0] if match[2] is None else expand(match[2], variables)

    def compute(match: re.Match[str]) -> str:
        names = re.sub(r"(?<![\w$])([A-Za-z_]\w*)", lambda name: variables.get(name[1], name[1]), match[1])
        value = _compute_integer(names)
        return match[0] if value is None else str(value)

    return _ARITHMETIC.sub(compute, _VARIABLE.sub(fill, text))


_OPERATIONS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.floordiv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}


def _compute_integer(expression: str) -> int | None:
    """Compute ``8 * (4 + 2)``; None for anything but whole numbers and the four operations."""
    try:
        return _compute_node(ast.parse(expression.strip(), mode="eval").body)
    except (SyntaxError, ValueError, ZeroDivisionError):
        return None


def _compute_node(node: ast.expr) -> int:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_compute_node(node.left), _compute_node(node.right))
    raise ValueError
