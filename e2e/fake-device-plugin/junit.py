# SPDX-License-Identifier: Apache-2.0
"""junit.py REPORT.xml: writes what `go test -json` prints as a JUnit report, and prints failures and one line in the end."""

import json
import sys
import xml.etree.ElementTree as ElementTree

suite = ElementTree.Element("testsuite", name="fake-device-plugin")
printed, outcomes = {}, {"pass": 0, "fail": 0, "skip": 0}
for line in sys.stdin:
    event = json.loads(line)
    test, action = event.get("Test"), event["Action"]
    if action in ("output", "build-output"):
        printed.setdefault(test, []).append(event["Output"])
    # The end of the package says something new only where no test could tell: it does not compile, or it panicked.
    elif action in outcomes and (test or (action == "fail" and not outcomes["fail"])):
        outcomes[action] += 1
        attributes = {
            "classname": "fake-device-plugin",
            "name": test or "package",
            "time": str(event.get("Elapsed", 0)),
        }
        case = ElementTree.SubElement(suite, "testcase", attributes)
        if action == "fail":
            ElementTree.SubElement(case, "failure").text = "".join(printed.get(test, []))
            print(*printed.get(test, []), sep="", end="")
        elif action == "skip":
            ElementTree.SubElement(case, "skipped")
ElementTree.ElementTree(suite).write(sys.argv[1], encoding="unicode")
print("{pass} passed, {fail} failed, {skip} skipped".format(**outcomes))
sys.exit(1 if outcomes["fail"] or not outcomes["pass"] else 0)
