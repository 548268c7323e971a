# SPDX-License-Identifier: Apache-2.0
"""What came of a run: a table for people, JSON for tools, JUnit XML for the tests."""

import json
from collections import Counter
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from statistics import median
from xml.etree import ElementTree

from kvchaos.history import OK, Operation
from kvchaos.judge import Counts, Violation


@dataclass(frozen=True)
class Struck:
    """A fault that happened. Times in ns; `end` is when the next thing began."""

    kind: str
    start: int
    end: int


@dataclass
class Result:
    seed: int
    seconds: float
    operations: Counter[str] = field(default_factory=Counter)  # by kind
    outcomes: Counter[str] = field(default_factory=Counter)  # of puts and reads, by name
    faults: list[Struck] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    violations: list[Violation] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    evicted: int = 0
    put_ends: list[int] = field(default_factory=list)

    def add(self, operation: Operation) -> None:
        self.operations[operation.kind] += 1
        self.outcomes[f"{operation.kind}: {operation.outcome}"] += 1
        if operation.kind in ("put", "upsert") and operation.outcome == OK:
            self.put_ends.append(operation.end)

    def of_kind(self, kind: str) -> list[Violation]:
        return [violation for violation in self.violations if violation.kind == kind]

    @property
    def good(self) -> bool:
        return not self.violations and not self.problems


def longest_gap(put_ends: list[int], struck: Struck) -> float:
    """Seconds without an acknowledged put during a fault and after it, until the next thing began. `put_ends` is sorted."""
    moments = [struck.start, *(end for end in put_ends if struck.start < end < struck.end), struck.end]
    before = max((end for end in put_ends if end <= struck.start), default=struck.start)
    moments[0] = before
    return max(later - earlier for earlier, later in pairwise(moments)) / 1e9


def table(result: Result) -> str:
    ends = sorted(result.put_ends)
    gaps: dict[str, list[float]] = {}
    for struck in result.faults:
        gaps.setdefault(struck.kind, []).append(longest_gap(ends, struck))
    lines = ["| fault | times | longest time without a put, s | median |", "|---|---|---|---|"]
    for kind, seconds in sorted(gaps.items()):
        lines.append(f"| {kind} | {len(seconds)} | {max(seconds):.2f} | {median(seconds):.2f} |")
    operations = ", ".join(f"{count} {kind}" for kind, count in result.operations.most_common())
    return "\n".join(
        [
            *lines,
            "",
            f"seed {result.seed}, {result.seconds:.0f} s, {sum(result.operations.values())} operations: {operations}",
            f"{len(result.faults)} faults; {result.counts.values_read} values and {result.counts.misses} misses judged, "
            f"{result.counts.misses_of_evicted} misses of what was evicted, "
            f"{result.counts.misses_of_promised} misses while a storage node may have been out of sight; "
            f"{result.evicted} evictions",
            f"wrong reads: {len(result.of_kind('wrong'))}, lost objects: {len(result.of_kind('lost'))}, "
            f"other violations: {len(result.problems)}",
        ]
    )


def write_json(result: Result, path: Path) -> None:
    document = {
        "seed": result.seed,
        "seconds": result.seconds,
        "operations": result.operations,
        "outcomes": result.outcomes,
        "faults": [asdict(struck) for struck in result.faults],
        "counts": asdict(result.counts),
        "evicted": result.evicted,
        "violations": [str(violation) for violation in result.violations],
        "problems": result.problems,
    }
    path.write_text(json.dumps(document, indent=1))


def write_junit(result: Result, path: Path) -> None:
    """A test case for each promise."""
    wrong, lost = result.of_kind("wrong"), result.of_kind("lost")
    cases = {
        "no read returns wrong bytes": [str(it) for it in wrong],
        "no acknowledged object is lost": [str(it) for it in lost],
        "the pool gets whole again, and nothing dies by itself": result.problems,
        "the load did something": [] if result.counts.values_read and result.faults else ["no read or no fault"],
    }
    suite = ElementTree.Element("testsuite", name="chaos", tests=str(len(cases)))
    for name, failures in cases.items():
        case = ElementTree.SubElement(suite, "testcase", classname="chaos", name=name)
        if failures:
            failure = ElementTree.SubElement(case, "failure", message=f"{len(failures)}, seed {result.seed}")
            failure.text = "\n".join(failures[:20])
    ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)
