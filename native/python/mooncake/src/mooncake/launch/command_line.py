# SPDX-License-Identifier: Apache-2.0
"""Command lines as the reference's programs read them (gflags), against a table of flags: pure.

`--name=value`, `--name value`, one dash or two; a switch also as `--name` and `--noname`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

_TRUE = frozenset(("true", "t", "yes", "y", "1", "on"))
_FALSE = frozenset(("false", "f", "no", "n", "0", "off"))

# How alike a slip of the pen is to what was meant. Below that other flags with the same first word would be named.
_ALIKE = 0.8


class Treatment(Enum):
    """What becomes of a flag."""

    SUPPORTED = "supported"
    IGNORED = "ignored with a warning"
    REFUSED = "refused"


@dataclass(frozen=True)
class Flag:
    """One flag of the reference.

    Attributes:
        kind: reads the value; raises ValueError with what it must be.
        default: the reference's; a flag that is ignored or refused may be given with it.
        note: how it is carried out, why it has no effect, or what to use instead.
    """

    name: str
    kind: Callable[[str], object]
    default: object
    treatment: Treatment
    note: str

    @property
    def is_switch(self) -> bool:
        return self.kind is switch


@dataclass
class CommandLine:
    """What a command line says. `values` has every supported flag, with its default where it is not given."""

    values: dict[str, object]
    given: set[str] = field(default_factory=set)
    warnings: list[str] = field(default_factory=list)
    help: bool = False


class BadCommandLine(Exception):
    """`problems` says all that is wrong, one sentence each."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


def switch(text: str) -> bool:
    word = text.lower()
    if word in _TRUE or word in _FALSE:
        return word in _TRUE
    raise ValueError("must be true or false")


def whole_number(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 18:
        raise ValueError("must be a whole number, 0 or more")
    return int(text)


def port(text: str) -> int:
    number = whole_number(text)
    if number > 65535:
        raise ValueError("must be a port, 0 to 65535")
    return number


def ratio(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number <= 1:
        raise ValueError("must be a number from 0 to 1")
    return number


def word(text: str) -> str:
    if "\0" in text:
        raise ValueError("must be text without zero bytes")
    return text


def read(arguments: Sequence[str], flags: Sequence[Flag], file: Mapping[str, str] | None = None) -> CommandLine:
    """Reads arguments, and below them the settings of a file. Raises BadCommandLine with all problems."""
    table = {flag.name: flag for flag in flags}
    line = CommandLine({flag.name: flag.default for flag in flags if flag.treatment is Treatment.SUPPORTED})
    problems: list[str] = []
    texts: dict[str, str] = {}
    for name, text in (file or {}).items():
        if name in table:
            texts[name] = text
        else:
            problems.append(f"config_path: {_unknown(name, table)}")
    rest = list(arguments)
    while rest:
        argument = rest.pop(0)
        if argument in ("--help", "-help", "-h"):
            line.help = True
            continue
        if not argument.startswith("-") or argument in ("-", "--"):
            problems.append(f"unexpected argument {argument!r}: every setting is a flag")
            continue
        name, has_value, text = argument.lstrip("-").partition("=")
        if not has_value and name.startswith("no") and name not in table:
            negated = table.get(name[2:])
            if negated is not None and negated.is_switch:
                texts[negated.name] = "false"
                continue
        flag = table.get(name)
        if flag is None:
            problems.append(_unknown(name, table))
            if not has_value and rest and not rest[0].startswith("-"):
                rest.pop(0)
            continue
        if not has_value:
            if flag.is_switch:
                text = "true"
            elif rest:
                text = rest.pop(0)
            else:
                problems.append(f"--{name} needs a value")
                continue
        texts[name] = text
    for name, text in texts.items():
        _take(table[name], text, line, problems)
    if problems:
        raise BadCommandLine(problems)
    return line


def _take(flag: Flag, text: str, line: CommandLine, problems: list[str]) -> None:
    try:
        value = flag.kind(text)
    except ValueError as problem:
        problems.append(f"--{flag.name} is {text!r}, but {problem}")
        return
    if flag.treatment is Treatment.SUPPORTED:
        line.values[flag.name] = value
        line.given.add(flag.name)
    elif value == flag.default:
        return
    elif flag.treatment is Treatment.IGNORED:
        line.warnings.append(f"--{flag.name} has no effect: {flag.note}")
    else:
        problems.append(f"--{flag.name}={text} is not served: {flag.note}")


def _unknown(name: str, table: Mapping[str, Flag]) -> str:
    close = difflib.get_close_matches(name, table, 1, _ALIKE)
    return f"unknown flag --{name}" + (f"; is --{close[0]} meant?" if close else "; --help lists the known ones")


def usage(program: str, summary: str, flags: Sequence[Flag]) -> str:
    """The text for --help."""
    lines = [f"Usage: {program} [--FLAG=VALUE]...", "", summary, ""]
    for treatment in Treatment:
        lines.append(f"Flags that are {treatment.value}:")
        for flag in flags:
            if flag.treatment is treatment:
                shown = str(flag.default).lower() if flag.is_switch else flag.default
                lines.append(f"  --{flag.name} ({shown})" if shown != "" else f"  --{flag.name}")
                lines.append(f"      {flag.note}")
        lines.append("")
    return "\n".join(lines)
