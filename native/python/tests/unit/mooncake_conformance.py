# SPDX-License-Identifier: Apache-2.0
"""docs/reference/mooncake-conformance.md, out of mooncake_reference.toml, which a test compares with the wheels."""

import tomllib
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE / "../../../../docs/reference/mooncake-conformance.md"
REFERENCE = tomllib.loads((HERE / "mooncake_reference.toml").read_text())
HEAD = """# Mooncake's Python API, name by name

Every public name of Mooncake's wheel 0.3.13.post1, compared with kvpool's by a test: signature and defaults are the same,
or the test fails. What a name does is the claim of its row: tests of its own are beside the code. *Same* is also what takes more
than the reference, *differs* what a caller could miss. Generated; the [API](python.md) says what each does.

For all methods of a store: before `setup()`, after one that failed and after `close()`, where many of the reference's end
the process, calls here answer -600 or an empty result, and the log says why. Every value has a checksum, so a read never
returns wrong bytes. Negative, huge and overlapping numbers are refused, one key at a time.

"""
STATUSES = ("same", "better", "differs", "missing")


def rows() -> Iterator[tuple[str, str, str, str, str]]:
    """Owner, name, what it is in the reference, what is here and why."""
    for owner, names in REFERENCE.items():
        for name, given in names.items():
            what, note = given if isinstance(given, list) else (given, "same")
            status, _, why = note.partition(": ")
            yield owner, name, what, status, why


def page() -> Iterator[str]:
    yield HEAD
    counts = {status: sum(row[3] == status for row in rows()) for status in STATUSES}
    yield f"{counts['same']} the same, {counts['better']} better, {counts['differs']} different, {counts['missing']} missing.\n"
    owner = None
    for of, name, what, status, why in rows():
        if of != owner:
            owner = of
            yield f"\n## {owner}\n\n| name | in Mooncake | here | |\n|---|---|---|---|\n"
        cell = what.replace("|", "\\|")
        yield f"| `{name}` | {f'`{cell}`' if cell[0] in '(=' else cell} | {status} | {why} |\n"


def write() -> None:
    PAGE.write_text("".join(page()))
