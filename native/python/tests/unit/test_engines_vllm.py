# SPDX-License-Identifier: Apache-2.0
"""kvpool_engines where vLLM or vllm-ascend is absent, too old, or another one than it knows."""

import importlib
import logging
import sys
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any

import pytest

from kvpool_engines import vllm_plugin

TIERS = "vllm.v1.kv_offload.tiering.factory"


@pytest.fixture
def put_in(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """put_in(NAME, ATTRIBUTE=VALUE...): a module, and packages above it, in an engine's place."""

    def put(name: str, **attributes: Any) -> None:
        parts = name.split(".")
        for end in range(1, len(parts) + 1):
            package = ".".join(parts[:end])
            module = sys.modules.get(package) or ModuleType(package)
            module.__spec__ = ModuleSpec(package, None, is_package=True)
            module.__path__ = []
            monkeypatch.setitem(sys.modules, package, module)
        vars(sys.modules[name]).update(attributes)

    return put


class Anything(ModuleType):
    """Has whatever is imported of it."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


@pytest.fixture(autouse=True)
def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "kvpool_engines.vllm_interface", raising=False)


def test_the_tier_says_what_it_needs_where_there_is_no_vllm() -> None:
    with pytest.raises(ImportError, match=r"needs vLLM 0\.25\.1 or later, .*No module named 'vllm'.*vllm>=0\.25\.1"):
        importlib.import_module("kvpool_engines.vllm_interface")


def test_the_tier_refuses_an_older_vllm(put_in: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    """As 0.24, which has other answers to lookups."""
    put_in("vllm.v1.kv_offload.base")
    monkeypatch.setattr(
        sys.modules["vllm.v1.kv_offload"], "base", sys.modules["vllm.v1.kv_offload.base"], raising=False
    )
    metrics = "vllm.distributed.kv_transfer.kv_connector.v1.offloading.metrics"
    put_in(metrics)
    monkeypatch.setitem(sys.modules, metrics, Anything(metrics))

    with pytest.raises(
        ImportError, match=r"needs vLLM 0\.25\.1 or later, .*cannot import name 'LookupResult'.*MooncakeStoreConnector"
    ):
        importlib.import_module("kvpool_engines.vllm_interface")


def registered(caplog: pytest.LogCaptureFixture) -> str:
    """What the one line in the log says."""
    caplog.clear()
    with caplog.at_level(logging.INFO):
        vllm_plugin.register()
    [record] = caplog.records
    return record.getMessage()


def test_vllm_finds_the_plugin() -> None:
    [found] = [it for it in entry_points(group="vllm.general_plugins") if it.name == "kvpool"]

    assert found.load() is vllm_plugin.register


def test_the_plugin_does_nothing_where_there_is_no_vllm(caplog: pytest.LogCaptureFixture) -> None:
    assert "the engine has no place for it: ModuleNotFoundError: No module named 'vllm'" in registered(caplog)


@pytest.mark.parametrize("factory", [{}, {"SecondaryTierFactory": object()}])
def test_the_plugin_leaves_another_vllm_alone(
    factory: dict[str, Any], put_in: Callable[..., None], caplog: pytest.LogCaptureFixture
) -> None:
    put_in(TIERS, **factory)

    assert "the engine has no place for it: AttributeError" in registered(caplog)


def test_the_plugin_leaves_another_vllm_ascend_alone(
    put_in: Callable[..., None], caplog: pytest.LogCaptureFixture
) -> None:
    put_in(vllm_plugin.BACKENDS)

    assert "the engine has no place for it: AttributeError" in registered(caplog)


def test_a_second_call_changes_nothing(put_in: Callable[..., None], caplog: pytest.LogCaptureFixture) -> None:
    """vLLM makes one in each process, and others may have put theirs there before."""
    backends: dict[str, Any] = {"mooncake": {}}
    put_in(vllm_plugin.BACKENDS, backend_map=backends)

    assert registered(caplog) == registered(caplog) == "kvpool: kvpool is a backend of AscendStoreConnector"
    assert backends == {"mooncake": {}, "kvpool": vllm_plugin.BACKEND_CLASS}
