# SPDX-License-Identifier: Apache-2.0
"""What the methods of a store share: a pool, or none, and how calls to it are answered."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mooncake.answers.error_code import ErrorCode
from mooncake.connection.pool import Pool
from mooncake.methods.calls import Calls
from mooncake.replicas.replicate_config import ReplicateConfig, WithoutEffect

if TYPE_CHECKING:
    from typing_extensions import Buffer

logger = logging.getLogger("mooncake.store")

INVALID_PARAMS = int(ErrorCode.INVALID_PARAMS)
DEFAULT_CONFIG = ReplicateConfig()
_DEFAULT_HOW = DEFAULT_CONFIG.how(0)  # without groups the count says nothing


class StoreCalls:
    """A store that is set up or not. What its methods are made of is here, the methods are in its subclasses."""

    def __init__(self) -> None:
        self._calls = Calls(logger)
        self._setup_lock = threading.Lock()
        self._pool: Pool | None = None
        self._without_effect = WithoutEffect(logger)

    def _values(self, method: str, keys: Sequence[str]) -> list[bytes | None]:
        found: list[bytes | None] = []

        def read(pool: Pool) -> Sequence[int]:
            pool.require_staging()
            answers = pool.client.get_batch(keys)
            found.extend(answer if isinstance(answer, bytes) else None for answer in answers)
            return [0 if isinstance(answer, bytes) else answer for answer in answers]

        self._for_each(method, keys, read)
        return found or [None] * len(keys)

    def _read_memory(
        self, method: str, keys: Sequence[str], buffer_ptrs: Sequence[int], sizes: Sequence[int]
    ) -> list[int]:
        return self._for_each(
            method, keys, lambda pool: pool.client.get_into_memory(keys, buffer_ptrs, sizes, reuse=pool.reuse)
        )

    def _put_values(
        self,
        method: str,
        keys: Sequence[str],
        values: Sequence[Buffer],
        config: ReplicateConfig | None,
        upsert: bool,
        stages: bool = True,
    ) -> list[int]:
        def send(pool: Pool, how: dict[str, Any]) -> Sequence[int]:
            if stages:
                pool.require_staging()
            return pool.client.put_batch(keys, values, upsert=upsert, **how)

        return self._put(method, keys, config, send)

    def _put_memory(
        self,
        method: str,
        keys: Sequence[str],
        buffer_ptrs: Sequence[int],
        sizes: Sequence[int],
        config: ReplicateConfig | None,
        upsert: bool,
    ) -> list[int]:
        return self._put(
            method, keys, config, lambda pool, how: pool.client.put_from(keys, buffer_ptrs, sizes, upsert=upsert, **how)
        )

    def _put(
        self,
        method: str,
        keys: Sequence[str],
        config: ReplicateConfig | None,
        send: Callable[[Pool, dict[str, Any]], Sequence[int]],
    ) -> list[int]:
        config = config or DEFAULT_CONFIG
        how = self._how(method, config, len(keys))
        if how is None:
            return [INVALID_PARAMS] * len(keys)
        return self._for_each(
            method, keys, lambda pool: send(pool, {**how, "preferred_node": pool.nodes_for(config.preferred())})
        )

    def _how(self, method: str, config: ReplicateConfig, count: int) -> dict[str, Any] | None:
        """What a put says to kvpool, but for the node; None for a config that is wrong. TypeError for what is none."""
        if not isinstance(config, ReplicateConfig):
            raise TypeError(f"config is a {type(config).__name__}, but must be a ReplicateConfig")
        try:
            how = _DEFAULT_HOW if config is DEFAULT_CONFIG else config.how(count)
        except ValueError as problem:
            logger.error("%s: %s", method, problem)
            return None
        if config is not DEFAULT_CONFIG:
            self._without_effect.mention(config)
        return how

    def _without_pool(self, method: str) -> list[Any]:
        """What the reference answers, and the reason in the log."""
        return self._calls.for_each(None, method, [], lambda pool: [])

    def _refuse(self, method: str, count: int, why: str) -> list[int]:
        """-600 for each of so many, and the reason in the log."""
        self._calls.failures.write(method, INVALID_PARAMS, "the call failed", why)
        return [INVALID_PARAMS] * count

    @property
    def _local_buffer_bytes(self) -> int:
        pool = self._pool
        return 0 if pool is None else pool.local_buffer_bytes

    def _for_each(self, method: str, keys: Sequence[str], call: Callable[[Pool], Sequence[int]]) -> list[int]:
        return self._calls.for_each(self._pool, method, keys, call)
