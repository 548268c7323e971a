# SPDX-License-Identifier: Apache-2.0
"""mooncake.async_store: the store with a coroutine `async_NAME` for every method NAME."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, TypeVar

from kvpool.call_threads import DEFAULT_MAX_CALLS, CallThreads, begin_aside
from mooncake.store import MooncakeDistributedStore

__all__ = ["MooncakeDistributedStoreAsync"]

_P = ParamSpec("_P")
_R = TypeVar("_R")

_AsBlocking = Callable[Concatenate[MooncakeDistributedStore, _P], _R]
_AsCoroutine = Callable[Concatenate["MooncakeDistributedStoreAsync", _P], Coroutine[Any, Any, _R]]


def _in_thread(method: _AsBlocking[_P, _R]) -> _AsCoroutine[_P, _R]:
    """The coroutine of a call, in one of the store's threads. It does what the method does in a subclass, too."""
    name = method.__name__

    async def call(self: MooncakeDistributedStoreAsync, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        return await self._threads.run(functools.partial(getattr(self, name), *args, **kwargs))

    return _named_after(method, call)


def _at_once(method: _AsBlocking[_P, _R]) -> _AsCoroutine[_P, _R]:
    """The same for a call that does not wait: it is done in the event loop, also while all threads are busy."""
    name = method.__name__

    async def call(self: MooncakeDistributedStoreAsync, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        return getattr(self, name)(*args, **kwargs)

    return _named_after(method, call)


def _aside(method: _AsBlocking[_P, _R]) -> _AsCoroutine[_P, _R]:
    """The same for a call that must not wait for its turn behind those it shall end: it gets a thread of its own."""
    name = method.__name__

    async def call(self: MooncakeDistributedStoreAsync, *args: _P.args, **kwargs: _P.kwargs) -> _R:
        return await asyncio.wrap_future(begin_aside(functools.partial(getattr(self, name), *args, **kwargs)))

    return _named_after(method, call)


def _named_after(method: Callable[..., Any], call: _AsCoroutine[_P, _R]) -> _AsCoroutine[_P, _R]:
    functools.update_wrapper(call, method, assigned=("__doc__",))
    call.__name__ = f"async_{method.__name__}"
    call.__qualname__ = f"MooncakeDistributedStoreAsync.{call.__name__}"
    return call


class MooncakeDistributedStoreAsync(MooncakeDistributedStore):
    """MooncakeDistributedStore, and for each of its methods NAME a coroutine `async_NAME` with the same arguments and
    result, for any number of event loops. Both kinds may be used at the same time.

    Up to `max_calls` coroutines are in a call at a time, each in a thread of this store's; further ones wait for their
    turn, in order. Cancelling a coroutine ends its wait, and not its call: one that runs goes on, a put may still happen,
    and memory given to it may be read or written until it ends. One that waits for its turn never begins.

    `async_close` waits for the calls that run; those that wait for their turn then answer as after close(): -600, or an
    empty result where data is returned. Cancelled, `async_close` and `async_setup` still happen: close() afterwards.

    Args:
        max_calls: calls of coroutines at a time, and so threads at the most; 1 or more.
    """

    def __init__(self, *, max_calls: int = DEFAULT_MAX_CALLS) -> None:
        super().__init__()
        self._threads = CallThreads(max_calls)

    async_setup = _aside(MooncakeDistributedStore.setup)
    async_setup_dummy = _aside(MooncakeDistributedStore.setup_dummy)
    async_init_all = _aside(MooncakeDistributedStore.init_all)
    async_close = _aside(MooncakeDistributedStore.close)
    async_get_hostname = _at_once(MooncakeDistributedStore.get_hostname)
    async_health_check = _at_once(MooncakeDistributedStore.health_check)

    async_mount_segment = _in_thread(MooncakeDistributedStore.mount_segment)
    async_allocate_and_mount_segment = _in_thread(MooncakeDistributedStore.allocate_and_mount_segment)
    async_unmount_and_free_segment = _in_thread(MooncakeDistributedStore.unmount_and_free_segment)
    async_unmount_segment = _in_thread(MooncakeDistributedStore.unmount_segment)
    async_unmount_local_disk_segment = _at_once(MooncakeDistributedStore.unmount_local_disk_segment)

    async_alloc_from_mem_pool = _at_once(MooncakeDistributedStore.alloc_from_mem_pool)
    async_register_buffer = _at_once(MooncakeDistributedStore.register_buffer)
    async_unregister_buffer = _in_thread(MooncakeDistributedStore.unregister_buffer)

    async_put = _in_thread(MooncakeDistributedStore.put)
    async_upsert = _in_thread(MooncakeDistributedStore.upsert)
    async_put_parts = _in_thread(MooncakeDistributedStore.put_parts)
    async_upsert_parts = _in_thread(MooncakeDistributedStore.upsert_parts)
    async_put_batch = _in_thread(MooncakeDistributedStore.put_batch)
    async_upsert_batch = _in_thread(MooncakeDistributedStore.upsert_batch)
    async_put_from = _in_thread(MooncakeDistributedStore.put_from)
    async_upsert_from = _in_thread(MooncakeDistributedStore.upsert_from)
    async_batch_put_from = _in_thread(MooncakeDistributedStore.batch_put_from)
    async_batch_upsert_from = _in_thread(MooncakeDistributedStore.batch_upsert_from)
    async_batch_put_from_multi_buffers = _in_thread(MooncakeDistributedStore.batch_put_from_multi_buffers)
    async_put_from_with_metadata = _in_thread(MooncakeDistributedStore.put_from_with_metadata)

    async_get = _in_thread(MooncakeDistributedStore.get)
    async_get_batch = _in_thread(MooncakeDistributedStore.get_batch)
    async_get_buffer = _in_thread(MooncakeDistributedStore.get_buffer)
    async_batch_get_buffer = _in_thread(MooncakeDistributedStore.batch_get_buffer)
    async_get_into = _in_thread(MooncakeDistributedStore.get_into)
    async_batch_get_into = _in_thread(MooncakeDistributedStore.batch_get_into)
    async_batch_get_into_multi_buffers = _in_thread(MooncakeDistributedStore.batch_get_into_multi_buffers)

    async_get_into_ranges = _in_thread(MooncakeDistributedStore.get_into_ranges)
    async_batch_get_session_start = _in_thread(MooncakeDistributedStore.batch_get_session_start)
    async_batch_get_into_multi_buffer_ranges = _in_thread(MooncakeDistributedStore.batch_get_into_multi_buffer_ranges)
    async_batch_get_session_end = _in_thread(MooncakeDistributedStore.batch_get_session_end)
    async_batch_put_session_start = _in_thread(MooncakeDistributedStore.batch_put_session_start)
    async_batch_put_from_multi_buffer_ranges = _in_thread(MooncakeDistributedStore.batch_put_from_multi_buffer_ranges)
    async_batch_put_session_end = _in_thread(MooncakeDistributedStore.batch_put_session_end)
    async_batch_put_session_revoke = _in_thread(MooncakeDistributedStore.batch_put_session_revoke)

    async_put_tensor = _in_thread(MooncakeDistributedStore.put_tensor)
    async_pub_tensor = _in_thread(MooncakeDistributedStore.pub_tensor)
    async_upsert_tensor = _in_thread(MooncakeDistributedStore.upsert_tensor)
    async_upsert_pub_tensor = _in_thread(MooncakeDistributedStore.upsert_pub_tensor)
    async_batch_put_tensor = _in_thread(MooncakeDistributedStore.batch_put_tensor)
    async_batch_pub_tensor = _in_thread(MooncakeDistributedStore.batch_pub_tensor)
    async_batch_upsert_tensor = _in_thread(MooncakeDistributedStore.batch_upsert_tensor)
    async_batch_upsert_pub_tensor = _in_thread(MooncakeDistributedStore.batch_upsert_pub_tensor)
    async_put_tensor_with_tp = _in_thread(MooncakeDistributedStore.put_tensor_with_tp)
    async_pub_tensor_with_tp = _in_thread(MooncakeDistributedStore.pub_tensor_with_tp)
    async_batch_put_tensor_with_tp = _in_thread(MooncakeDistributedStore.batch_put_tensor_with_tp)
    async_batch_pub_tensor_with_tp = _in_thread(MooncakeDistributedStore.batch_pub_tensor_with_tp)
    async_put_tensor_from = _in_thread(MooncakeDistributedStore.put_tensor_from)
    async_batch_put_tensor_from = _in_thread(MooncakeDistributedStore.batch_put_tensor_from)
    async_upsert_tensor_from = _in_thread(MooncakeDistributedStore.upsert_tensor_from)
    async_batch_upsert_tensor_from = _in_thread(MooncakeDistributedStore.batch_upsert_tensor_from)
    async_put_tensor_with_tp_from = _in_thread(MooncakeDistributedStore.put_tensor_with_tp_from)
    async_batch_put_tensor_with_tp_from = _in_thread(MooncakeDistributedStore.batch_put_tensor_with_tp_from)
    async_get_tensor = _in_thread(MooncakeDistributedStore.get_tensor)
    async_batch_get_tensor = _in_thread(MooncakeDistributedStore.batch_get_tensor)
    async_get_tensor_with_tp = _in_thread(MooncakeDistributedStore.get_tensor_with_tp)
    async_batch_get_tensor_with_tp = _in_thread(MooncakeDistributedStore.batch_get_tensor_with_tp)
    async_get_tensor_into = _in_thread(MooncakeDistributedStore.get_tensor_into)
    async_batch_get_tensor_into = _in_thread(MooncakeDistributedStore.batch_get_tensor_into)
    async_get_tensor_with_tp_into = _in_thread(MooncakeDistributedStore.get_tensor_with_tp_into)
    async_batch_get_tensor_with_tp_into = _in_thread(MooncakeDistributedStore.batch_get_tensor_with_tp_into)
    async_put_tensor_with_parallelism = _in_thread(MooncakeDistributedStore.put_tensor_with_parallelism)
    async_batch_put_tensor_with_parallelism = _in_thread(MooncakeDistributedStore.batch_put_tensor_with_parallelism)
    async_upsert_tensor_with_parallelism = _in_thread(MooncakeDistributedStore.upsert_tensor_with_parallelism)
    async_batch_upsert_tensor_with_parallelism = _in_thread(
        MooncakeDistributedStore.batch_upsert_tensor_with_parallelism
    )
    async_put_tensor_with_parallelism_from = _in_thread(MooncakeDistributedStore.put_tensor_with_parallelism_from)
    async_batch_put_tensor_with_parallelism_from = _in_thread(
        MooncakeDistributedStore.batch_put_tensor_with_parallelism_from
    )
    async_upsert_tensor_with_parallelism_from = _in_thread(MooncakeDistributedStore.upsert_tensor_with_parallelism_from)
    async_batch_upsert_tensor_with_parallelism_from = _in_thread(
        MooncakeDistributedStore.batch_upsert_tensor_with_parallelism_from
    )
    async_get_tensor_with_parallelism = _in_thread(MooncakeDistributedStore.get_tensor_with_parallelism)
    async_batch_get_tensor_with_parallelism = _in_thread(MooncakeDistributedStore.batch_get_tensor_with_parallelism)
    async_get_tensor_with_parallelism_into = _in_thread(MooncakeDistributedStore.get_tensor_with_parallelism_into)
    async_batch_get_tensor_with_parallelism_into = _in_thread(
        MooncakeDistributedStore.batch_get_tensor_with_parallelism_into
    )
    async_save_tensor_to_safetensor = _in_thread(MooncakeDistributedStore.save_tensor_to_safetensor)
    async_load_tensor_from_safetensor = _in_thread(MooncakeDistributedStore.load_tensor_from_safetensor)

    async_is_exist = _in_thread(MooncakeDistributedStore.is_exist)
    async_batch_is_exist = _in_thread(MooncakeDistributedStore.batch_is_exist)
    async_get_offload_rpc_read_count = _at_once(MooncakeDistributedStore.get_offload_rpc_read_count)
    async_get_replica_desc = _in_thread(MooncakeDistributedStore.get_replica_desc)
    async_batch_get_replica_desc = _in_thread(MooncakeDistributedStore.batch_get_replica_desc)
    async_get_size = _in_thread(MooncakeDistributedStore.get_size)

    async_create_copy_task = _aside(MooncakeDistributedStore.create_copy_task)
    async_create_move_task = _aside(MooncakeDistributedStore.create_move_task)
    async_query_task = _aside(MooncakeDistributedStore.query_task)
    async_remove = _in_thread(MooncakeDistributedStore.remove)
    async_batch_remove = _in_thread(MooncakeDistributedStore.batch_remove)
    async_batch_replica_clear = _in_thread(MooncakeDistributedStore.batch_replica_clear)
    async_remove_by_regex = _in_thread(MooncakeDistributedStore.remove_by_regex)
    async_remove_all = _in_thread(MooncakeDistributedStore.remove_all)
