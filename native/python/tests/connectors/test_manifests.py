# SPDX-License-Identifier: Apache-2.0
"""manifests/engines says nothing that the pinned version of the engine would not understand."""

import ast
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import Engine
from local_pool import LocalPool
from sources import ENGINES

from manifests import engine_process

NOWHERE = "127.0.0.1:1"


def fields(sources: Path, engine: str) -> Iterator[tuple[str, str]]:
    """Names of the fields that the classes of its `options` declare, each with the source of its declaration."""
    for name in ENGINES[engine]["options"]:
        text = (sources / name).read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
                yield node.target.id, ast.get_source_segment(text, node)


@pytest.mark.parametrize(
    ("manifest", "engine"), [("vllm", "vllm"), ("lmcache", "vllm"), ("vllm-ascend", "vllm-for-ascend")]
)
def test_the_transfer_config_has_fields_of_vllms(
    manifest: str, engine: str, sources: Callable[[str], Path], tmp_path: Path
) -> None:
    known = dict(fields(sources(engine), engine))
    [config] = [
        json.loads(argument.partition("=")[2])
        for argument in engine_process(manifest, NOWHERE, tmp_path).arguments
        if argument.startswith("--kv-transfer-config=")
    ]

    assert config["kv_load_failure_policy"] in known["kv_load_failure_policy"]
    assert set(config) <= set(known)


def test_sglangs_options_are_options_of_it(sources: Callable[[str], Path], tmp_path: Path) -> None:
    known = dict(fields(sources("sglang"), "sglang"))
    options = [it for it in engine_process("sglang", NOWHERE, tmp_path).arguments if it.startswith("--")]

    assert options
    for option in options:
        name, _, value = option.removeprefix("--").partition("=")
        declaration = known.get(name.replace("-", "_"))
        assert declaration, f"{option} is no option"
        assert "choices" not in declaration or f'"{value}"' in declaration, f"{option} is no choice"


def test_lmcaches_file_has_no_key_that_it_ignores(start_engine: Callable[..., Engine], pool: LocalPool) -> None:
    engine = start_engine("lmcache", pool.masters)
    engine.run()

    assert "Loading config file" in engine.log
    assert "Unknown config key" not in engine.log
