# SPDX-License-Identifier: Apache-2.0
"""Every public name of the reference's Python package against ours: mooncake_reference.toml has its names, signatures and
defaults."""

import ast
import enum
import importlib
import importlib.metadata
import importlib.util
import inspect
import re
from typing import Any

import pytest
from mooncake_conformance import CLAIMS, PAGE, STATUSES, is_a_test, page, rows

NOTHING: Any = object()


def ours(owner: str, name: str) -> Any:
    """The object itself, NOTHING where there is none."""
    if owner == "commands":
        commands = {entry.name for entry in importlib.metadata.entry_points(group="console_scripts")}
        return name if name in commands else NOTHING
    if owner == "modules":
        return name if importlib.util.find_spec(name) else NOTHING
    module, _, cls = owner.rpartition(".") if owner.rpartition(".")[2][0].isupper() else (owner, "", "")
    if importlib.util.find_spec(module) is None:
        return NOTHING
    found = importlib.import_module(module)
    if cls:
        found = getattr(found, cls, NOTHING)
        if found is NOTHING:
            return NOTHING
        if inspect.isclass(found) and name in getattr(found, "__dataclass_fields__", {}):
            return getattr(found(), name)
    return getattr(found, name, NOTHING)


def parameters(signature: str) -> list[inspect.Parameter]:
    """Of "(a, b=1, *rest, c=2)", whose defaults are literals, ReplicateConfig() or names."""
    spec = ast.parse(f"def f{signature}: pass").body[0].args

    def parameter(arg: ast.arg, default: ast.expr | None, kind: Any) -> inspect.Parameter:
        if default is None:
            return inspect.Parameter(arg.arg, kind)
        is_config = ast.unparse(default) == "ReplicateConfig()"
        return inspect.Parameter(arg.arg, kind, default=None if is_config else ast.literal_eval(default))

    positional = [*spec.posonlyargs, *spec.args]
    defaults = [None] * (len(positional) - len(spec.defaults)) + list(spec.defaults)
    kinds = [inspect.Parameter.POSITIONAL_ONLY] * len(spec.posonlyargs)
    kinds += [inspect.Parameter.POSITIONAL_OR_KEYWORD] * len(spec.args)
    found = [parameter(*each) for each in zip(positional, defaults, kinds, strict=True)]
    if spec.vararg:
        found.append(parameter(spec.vararg, None, inspect.Parameter.VAR_POSITIONAL))
    named = zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
    return found + [parameter(*each, inspect.Parameter.KEYWORD_ONLY) for each in named]


def difference(reference: list[inspect.Parameter], own: list[inspect.Parameter]) -> str | None:
    """What a caller of the reference would notice; ours may take more."""
    rest = list(own)
    for want in reference:
        if want.kind is inspect.Parameter.KEYWORD_ONLY:
            have = next((each for each in rest if each.name == want.name), None)
        else:
            have = rest[0] if rest else None
        if have is None:
            return f"{want.name} is missing"
        rest.remove(have)
        if want.kind is not inspect.Parameter.POSITIONAL_ONLY and have.name != want.name:
            return f"{have.name} is in the place of {want.name}"
        if want.kind is inspect.Parameter.VAR_POSITIONAL and have.kind is not want.kind:
            return f"{want.name} takes one argument"
        if want.default is not want.empty and have.default != want.default:
            return f"the default of {want.name} is {have.default!r}, not {want.default!r}"
    required = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    more = [each.name for each in rest if each.default is each.empty and each.kind in required]
    return f"{', '.join(more)} must be given" if more else None


def problem(owner: str, name: str, what: str, status: str, why: str, proof: str) -> str | None:
    if (status in CLAIMS) != bool(proof):
        return f"is {status!r} with {proof or 'no test'!r} as proof"
    if proof and not is_a_test(proof):
        return f"names {proof!r}, which is no test"
    if status not in STATUSES or (status != "same" and not why) or (status == "same" and why.startswith("but ")):
        return f"says {status!r}, {why!r}"
    found = ours(owner, name)
    if (found is NOTHING) != (status == "missing"):
        return "is not there" if found is NOTHING else "is there, and not missing any more"
    if found is NOTHING:
        return None
    if what.startswith("("):
        own = list(inspect.signature(found).parameters.values())
        return difference(parameters(what), own[1:] if own and own[0].name == "self" else own)
    if what.startswith("= "):
        if isinstance(found, enum.Enum) and "." in what:
            return None if f"= {found}" == what or f"= {type(found).__name__}.{found.name}" == what else f"is {found!r}"
        return None if found == ast.literal_eval(what[2:]) else f"is {found!r}, not {what[2:]}"
    if what == "class":
        return None if inspect.isclass(found) else f"is {found!r}, and no class"
    return None


def test_names_signatures_and_defaults() -> None:
    problems = [f"{row[0]}.{row[1]}: {why}" for row in rows() if (why := problem(*row))]
    assert problems == []


def test_only_what_needs_other_hardware_is_missing() -> None:
    missing = {f"{owner}.{name}": why for owner, name, _, status, why, _ in rows() if status == "missing"}
    assert missing
    assert {
        name: why for name, why in missing.items() if not re.fullmatch("needs .*(GPU|NVMe over Fabrics).*", why)
    } == {}


@pytest.mark.parametrize(
    ("reference", "own", "found"),
    [
        ("(a, b=1)", lambda a, b=1: 0, None),
        ("(a, b=1)", lambda a, b=1, c=2, *, d=3: 0, None),
        ("(a, /)", lambda key: 0, None),
        ("(key, *parts, config=ReplicateConfig())", lambda key, *parts, config=None: 0, None),
        ("(a, b=1)", lambda a, b=2: 0, "the default of b is 2, not 1"),
        ("(a, b=1)", lambda a, b: 0, "the default of b is <class 'inspect._empty'>, not 1"),
        ("(a, b)", lambda a: 0, "b is missing"),
        ("(a, b)", lambda b, a: 0, "b is in the place of a"),
        ("(a)", lambda a, b: 0, "b must be given"),
        ("(a, *b)", lambda a, b: 0, "b takes one argument"),
    ],
)
def test_what_a_caller_would_notice(reference: str, own: Any, found: str | None) -> None:
    assert difference(parameters(reference), list(inspect.signature(own).parameters.values())) == found


@pytest.mark.parametrize(
    ("proof", "there"),
    [
        ("unit/test_mooncake_conformance.py::test_what_is_a_test", True),
        ("unit/test_mooncake_conformance.py::test_what_is_a_tes", False),
        ("unit/test_mooncake_conformance.py::problem", False),
        ("unit/test_none.py::test_what_is_a_test", False),
        ("unit/test_mooncake_conformance.py", False),
        ("KeyPatternTest.java::aLongOneIsRefused", True),
        ("KeyPatternTest.java::aLongOne", False),
        ("NoTest.java::aLongOneIsRefused", False),
        ("", False),
    ],
)
def test_what_is_a_test(proof: str, there: bool) -> None:
    assert is_a_test(proof) is there


def test_the_page_is_current() -> None:
    assert PAGE.read_text() == "".join(page()), "docs/reference/mooncake-conformance.md is stale; make docs writes it"
