# SPDX-License-Identifier: Apache-2.0
"""The rooms of the package mooncake: which may import which."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).parents[2] / "mooncake"
MOONCAKE = PROJECT / "src/mooncake"

# Each may import those above it, and no module that callers import.
ROOMS = (
    "answers",
    "memory",
    "transfers",
    "configuration",
    "replicas",
    "ranges",
    "tensors",
    "connection",
    "methods",
    "messages",
    "objects",
)
# What callers import, above all rooms: modules, the HTTP service and the commands.
ABOVE = {
    *(
        "async_store",
        "buffer_pool",
        "dataproto_catalog",
        "engine",
        "http_metadata_server",
        "mooncake_config",
        "mooncake_store_service",
        "store",
        "structured_object_store",
        "transfer_engine_topology_dump",
    ),
    *("launch", "rest"),
}


def imported(path: Path) -> Iterator[str]:
    """The rooms and modules of mooncake that a module imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("mooncake."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports name the room"
            if node.module == "mooncake":
                yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (name.split(".")[1] for alias in node.names if (name := alias.name).startswith("mooncake."))


def test_rooms_import_one_way() -> None:
    wrong = [
        f"{path.relative_to(MOONCAKE)} imports {other}"
        for number, room in enumerate(ROOMS)
        for path in sorted((MOONCAKE / room).glob("*.py"))
        for other in imported(path)
        if other not in ROOMS[: number + 1]
    ]
    assert wrong == []


def test_every_module_is_in_a_room_and_in_the_wheel() -> None:
    assert {path.stem for path in MOONCAKE.glob("[!_]*.py")} | {"launch", "rest"} == ABOVE
    folders = {"mooncake"} | {f"mooncake.{path.parent.name}" for path in MOONCAKE.glob("*/__init__.py")}
    assert folders == {"mooncake"} | {f"mooncake.{room}" for room in (*ROOMS, "launch", "rest")}
    assert set(tomllib.loads((PROJECT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]) == folders
