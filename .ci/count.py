#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""count.py REPORTS PARTS FAILED_PARTS: adds up the JUnit XML files below REPORTS for the given parts.

Prints failed and skipped tests by name and closes with "N passed, N failed". A failed part that reports no failed test
(a compile error, a run that was cut off) counts as one failure, and what its log complains of last is printed. So do a
skipped test that .ci/allowed-skips does not list, and a part that ran no test although it should have.
"""

import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

# Parts whose verdict is their exit status: they have no test cases of their own.
WITHOUT_CASES = {"lint", "cluster-image", "images"}


def outcomes(report):
    """Yields (name, outcome, why) of each test case; outcome is passed, failed or skipped, and why is said of failed ones."""
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        name = ".".join(filter(None, (case.get("classname"), case.get("name"))))
        problems = [*case.iter("failure"), *case.iter("error")]
        if problems or case.get("status") == "fail":
            yield name, "failed", why(case, problems)
        elif case.find("skipped") is not None or case.get("status") in ("disabled", "notrun"):
            yield name, "skipped", []
        else:
            yield name, "passed", []


def why(case, problems, most=12):
    """The first lines of what a failed test says, or the last ones of what it printed where it says nothing."""
    said = [line for problem in problems for line in (problem.text or problem.get("message") or "").splitlines()]
    if any(line.strip() for line in said):
        return said[:most]
    return (case.findtext("system-out") or "").splitlines()[-most:]


def complaints(lines, most=12):
    """What a log says of a failure that no test case tells of: its last errors that are not Maven's own, or else its end."""
    errors = [line for line in lines if "ERROR" in line or "error:" in line]
    ours = [line for line in errors if not line.startswith("[ERROR]")]
    return ours[-most:] + [line for line in errors if line.startswith("[ERROR]")][:most] or lines[-most:]


def main():
    reports, parts, failed_parts = Path(sys.argv[1]), sys.argv[2].split(), sys.argv[3].split()
    allowed_file = Path(__file__).with_name("allowed-skips")
    allowed = {line.split("#")[0].strip() for line in allowed_file.read_text().splitlines()} - {""}
    passed, failed = 0, 0
    for part in parts:
        names = {"passed": [], "failed": [], "skipped": []}
        for report in sorted((reports / part).rglob("*.xml")):
            for name, outcome, said in outcomes(report):
                names[outcome].append(name)
                if outcome == "failed":
                    print(f"failed: {part}: {name}", *said, sep="\n    ")
        for name in names["skipped"]:
            print(
                f"skipped: {part}: {name}"
                + ("" if name in allowed else " (not in .ci/allowed-skips: counts as failed)")
            )
        part_failed = len(names["failed"]) + sum(name not in allowed for name in names["skipped"])
        part_passed = len(names["passed"])
        if part in WITHOUT_CASES:
            part_passed += part not in failed_parts
        elif not any(names.values()) and part not in failed_parts:
            print(f"failed: {part}: it ran no test")
            part_failed += 1
        if part in failed_parts and part_failed == 0:
            part_failed = 1
            if part not in WITHOUT_CASES:
                print(f"failed: {part}: no test of it, but the part itself; its log says")
            for line in complaints((reports / f"{part}.log").read_text(errors="replace").splitlines()):
                print(f"    {line}")
        print(f"{part}: {part_passed} passed, {part_failed} failed, {len(names['skipped'])} skipped")
        passed, failed = passed + part_passed, failed + part_failed
    print(f"\n{passed} passed, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
