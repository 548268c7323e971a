# SPDX-License-Identifier: Apache-2.0
"""The rooms of kvpool_engines.proxy: which may import which."""

import ast
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "engines"
PROXY = PROJECT / "src/kvpool_engines/proxy"
# Each may import those above it.
ROOMS = ("refusal", "schemes", "instances", "exchange", "service")


def imported(path: Path) -> set[str]:
    """What a module imports of kvpool_engines: rooms, and modules that are outside of proxy."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for parts in (module.split(".") for module in modules if module.split(".")[0] in ("kvpool", "kvpool_engines")):
            names.add(parts[2] if parts[1:2] == ["proxy"] else ".".join(parts))
    return names


def test_rooms_import_one_way() -> None:
    wrong = [
        f"{path.relative_to(PROXY)} imports {other}"
        for number, room in enumerate(ROOMS)
        for path in sorted([*(PROXY / room).glob("*.py"), *PROXY.glob(f"{room}.py")])
        for other in imported(path)
        if other not in (*ROOMS[: number + 1], "kvpool_engines.quiet_log")
    ]
    assert wrong == []


def test_schemes_do_no_io() -> None:
    for path in (PROXY / "schemes").glob("*.py"):
        assert not modules_of(path) & {"aiohttp", "asyncio", "socket", "os", "random", "time"}, path


def modules_of(path: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(path.read_text())))
    named = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return named | {(node.module or "").split(".")[0] for node in nodes if isinstance(node, ast.ImportFrom)}


def test_every_room_is_in_the_wheel() -> None:
    packages = tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    folders = {"kvpool_engines.proxy"} | {
        f"kvpool_engines.proxy.{path.parent.name}" for path in PROXY.glob("*/__init__.py")
    }
    assert set(packages) == {"kvpool_engines"} | folders
    assert {folder.rpartition(".")[2] for folder in folders} | {"refusal"} == {*ROOMS, "proxy"}
