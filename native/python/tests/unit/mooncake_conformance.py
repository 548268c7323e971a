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
or the test fails. *Same* is also what takes more than the reference, *differs* what a caller could miss. Beside what
is *better* or *differs* stands a test of it, of `native/python/tests` or `data-plane`; where a claim has several parts,
of one of them at least. Generated; the [API](python.md) says what each does.

For all methods of a store: before `setup()`, after one that failed and after `close()`, where many of the reference's end
the process, calls here answer -600 or an empty result, and the log says why. Every value has a checksum, so a read never
returns wrong bytes. Negative, huge and overlapping numbers are refused, one key at a time.

"""
STATUSES = ("same", "better", "differs", "missing")
CLAIMS = ("better", "differs")
TESTS = HERE.parent
JAVA_TESTS = HERE / "../../../../data-plane/src/test/java"


def rows() -> Iterator[tuple[str, str, str, str, str, str]]:
    """Owner, name, what it is in the reference, what is here, why, and the test of that."""
    for owner, names in REFERENCE.items():
        for name, given in names.items():
            what, note, proof = [*given, "", ""][:3] if isinstance(given, list) else (given, "same", "")
            status, _, why = note.partition(": ")
            yield owner, name, what, status, why, proof


def is_a_test(proof: str) -> bool:
    """Whether "FILE::TEST" is there: a function below this folder, or a method of a class of Java."""
    file, _, name = proof.partition("::")
    if file.endswith(".java"):
        return any(f"void {name}(" in found.read_text() for found in JAVA_TESTS.rglob(file))
    path = TESTS / file
    return name.startswith("test_") and path.is_file() and f"def {name}(" in path.read_text()


def page() -> Iterator[str]:
    yield HEAD
    counts = {status: sum(row[3] == status for row in rows()) for status in STATUSES}
    yield f"{counts['same']} the same, {counts['better']} better, {counts['differs']} different, {counts['missing']} missing.\n"
    owner = None
    for of, name, what, status, why, proof in rows():
        if of != owner:
            owner = of
            yield f"\n## {owner}\n\n| name | in Mooncake | here | | proof |\n|---|---|---|---|---|\n"
        cell = what.replace("|", "\\|")
        yield f"| `{name}` | {f'`{cell}`' if cell[0] in '(=' else cell} | {status} | {why} | {f'`{proof}`' if proof else ''} |\n"


def write() -> None:
    PAGE.write_text("".join(page()))
