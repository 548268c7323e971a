#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The project's own rules about files, as a check: licence headers, names, leftovers, patches that still apply, links of pages.

Prints every breach with the rule and exits 1 when there is one. Java package rules are ArchUnit tests in the modules;
C++ include rules are a test of the native module.
"""

import functools
import re
import subprocess
import sys
from pathlib import Path

SOURCE = {".java", ".cc", ".h", ".c", ".py", ".sh", ".go"}
GENERATED = ("manifests/", "crds/yaml/", "helm/kvpool/templates/crds/")
BANNED_NAME = re.compile(
    r"(^|[-_/])(util|utils|common|helper|helpers|manager)([-_./]|$)|(Util|Utils|Helper|Manager)\.java$"
)
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.MULTILINE | re.DOTALL)
# How pages for people who change kvpool name classes, and tests as Suite.case.
CLASS_NAME = re.compile(r"`([A-Z][a-z0-9]+[A-Z][A-Za-z0-9]*(?:\.[A-Za-z0-9]+)?)`")
PAGES_OF_CODE = ("docs/internals/", "docs/decisions/")
LINES_OF_README = {"README.md": 120}  # the project's own; those of modules have fewer
LINES_OF_MODULE_README = 100
# Sentences that users read, in messages and in descriptions of fields; the plain words are Kubernetes' own.
SENTENCES = ("operator/src/main/", "crds/src/main/", "data-plane/src/main/", "native/src/", "identity/src/main/")
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
PRIVATE_WORDS = re.compile(
    r"\b(anew|go(?:es)? over|going over|nobody|somebody|everybody|whoever|the way out|nodes? of the cluster)\b",
    re.IGNORECASE,
)
LEFTOVER = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b|@Disabled\b|GTEST_SKIP\(\)(?! <<)")


def tracked():
    listing = subprocess.run(["git", "ls-files", "-z"], check=True, capture_output=True, text=True).stdout
    return [Path(name) for name in listing.split("\0") if name and Path(name).is_file()]


def breaches(path):
    name = path.as_posix()
    if "/src/main/java/" in name and not (path.parent / "package-info.java").is_file():
        yield "its package needs a package-info.java that says which one idea it holds"
    if BANNED_NAME.search(name):
        yield "a file name must say the idea, not util, common, helper or manager"
    if path.suffix == ".patch":
        yield from breaches_of_patch(path)
    if path.suffix == ".md":
        yield from breaches_of_page(path)
    if path.suffix not in SOURCE or name.startswith(GENERATED):
        return
    lines = path.read_text(encoding="utf-8").splitlines()
    if "SPDX-License-Identifier: Apache-2.0" not in "\n".join(lines[:5]):
        yield "the first lines must hold SPDX-License-Identifier: Apache-2.0"
    if name.startswith(SENTENCES) and path.suffix in (".java", ".cc", ".h"):
        yield from breaches_of_sentences("\n".join(lines))
    if name != ".ci/rules.py":
        for number, line in enumerate(lines, 1):
            if LEFTOVER.search(line):
                yield f"line {number}: unfinished mark or disabled test: {line.strip()[:80]}"


def breaches_of_sentences(text):
    """Literals that are continued on the next line are one sentence."""
    for literal in LITERAL.findall(re.sub(r'"\s*(?:\+ )?"', "", text)):
        for word in PRIVATE_WORDS.findall(literal):
            yield f'a sentence says "{word}", which needs a plain word: {literal[:80]}'


def breaches_of_patch(path):
    """Bugs planted on purpose are run by hand; code that moves under them has to be noticed before that."""
    check = subprocess.run(["git", "apply", "--check", path], capture_output=True, text=True)
    if check.returncode != 0:
        yield f"a patch must apply as it stands: {check.stderr.strip().splitlines()[0]}"


def breaches_of_page(path):
    """Relative links lead to a file, and to a heading that it has; classes and tests exist; READMEs stay short."""
    text = path.read_text(encoding="utf-8")
    limit = LINES_OF_README.get(path.as_posix(), LINES_OF_MODULE_README)
    if path.name == "README.md" and len(text.splitlines()) > limit:
        yield f"a README has at most {limit} lines; move the rest to docs/"
    for link in LINK.findall(CODE.sub("", text)):
        target, _, anchor = link.partition("#")
        if ":" in target:
            continue
        file = path.parent / target if target else path
        if not file.exists():
            yield f"a link leads nowhere: {link}"
        elif anchor and file.suffix == ".md" and anchor not in anchors(file):
            yield f"a link leads to a heading that is not there: {link}"

    if path.as_posix().startswith(PAGES_OF_CODE) or path.name == "README.md":
        for name in sorted(set(CLASS_NAME.findall(text))):
            if not set(name.split(".")) <= words_of_sources():
                yield f"names something that no source has: {name}"


@functools.cache
def words_of_sources():
    sources = (path for path in tracked() if path.suffix in SOURCE | {".yaml", ".patch"})
    return {word for path in sources for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))}


def anchors(page):
    """Names of a page's headings as links write them."""
    headings = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-") for heading in headings}


def main():
    found = [f"{path}: {breach}" for path in tracked() for breach in breaches(path)]
    print("\n".join(found))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
