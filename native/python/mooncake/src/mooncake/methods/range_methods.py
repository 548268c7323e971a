# SPDX-License-Identifier: Apache-2.0
"""The methods of a store for parts of values: in one call, or in sessions of many calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from mooncake.answers.error_code import ErrorCode
from mooncake.connection.pool import Pool
from mooncake.methods.store_calls import DEFAULT_CONFIG, INVALID_PARAMS, StoreCalls
from mooncake.ranges.put_sessions import How
from mooncake.ranges.range_reads import Wanted
from mooncake.ranges.rows import Row
from mooncake.replicas.replicate_config import ReplicateConfig


class RangeMethods(StoreCalls):
    """Parts of values."""

    def get_into_ranges(
        self,
        buffer_ptrs: Sequence[int],
        all_keys: Sequence[Sequence[str]],
        all_dst_offsets: Sequence[Sequence[Sequence[int]]],
        all_src_offsets: Sequence[Sequence[Sequence[int]]],
        all_sizes: Sequence[Sequence[Sequence[int]]],
    ) -> list[list[list[int]]]:
        """Reads parts of values into registered memory: `all_sizes[i][j][k]` bytes of the value of `all_keys[i][j]`, from
        `all_src_offsets[i][j][k]` on, to `buffer_ptrs[i] + all_dst_offsets[i][j][k]`. Bytes read or the code of each part,
        nested like all_sizes; a part that fails leaves the others good.

        Only these parts are read, each verified by the blocks that it touches. After setup_dummy() whole values are: a call
        costs what get_into() of each of its values costs, and once more where parts of one value overlap, and a value
        that is replaced by one of another length during the call is -707.
        """
        if self._pool is None:
            return self._without_pool("get_into_ranges")
        counts = [[len(sizes) for sizes in of_buffer] for of_buffer in all_sizes]
        try:
            wanted = list(_parts(buffer_ptrs, all_keys, all_dst_offsets, all_src_offsets, all_sizes))
            keys = [one.key for one in wanted]
        except ValueError as problem:
            answers = self._refuse("get_into_ranges", sum(map(sum, counts)), str(problem))
        else:
            answers = self._for_each("get_into_ranges", keys, lambda pool: pool.ranges.read(wanted))
        rest = iter(answers)
        return [[[next(rest) for _ in range(count)] for count in of_buffer] for of_buffer in counts]

    # ---- sessions: parts of the same values over many calls

    def batch_get_session_start(self, keys: Sequence[str]) -> list[int]:
        """Begins to read parts of these values by batch_get_into_multi_buffer_ranges(): notes which value each key has, and
        leases it. 0 or the code of each: -200 beyond 1,048,576 sessions.

        All reads of a session are of that value. Each prolongs its lease, so that it is not evicted while the session is
        used; one that was removed by force or replaced, or evicted after a lease's time without a read, is -707, and only a
        new start reads what the key has then. A second start takes the value as it is then, and an end ends the session for
        all who share this store.

        After setup_dummy() values are read whole here and held until batch_get_session_end(), 4 GiB of them (-200 beyond);
        then what happens to them in the pool makes no difference.
        """
        if self._pool is None:
            return self._without_pool("batch_get_session_start")

        def start(pool: Pool) -> list[int]:
            return [0 if answer >= 0 else answer for answer in pool.get_sessions.start(keys)]

        return self._for_each("batch_get_session_start", keys, start)

    def batch_get_into_multi_buffer_ranges(
        self,
        keys: Sequence[str],
        all_buffer_ptrs: Sequence[Sequence[int]],
        all_sizes: Sequence[Sequence[int]],
        all_src_offsets: Sequence[Sequence[int]],
    ) -> list[int]:
        """Reads pieces of the values of sessions into registered memory, each from its offset in the value, and only these:
        the bytes of all pieces of a key, or its code. A wrong piece is -600, and no byte of its key is written; so is a key
        without a session. -707 says that the key does not have the session's value any more."""
        rows = (keys, all_buffer_ptrs, all_sizes, all_src_offsets)
        return self._rows(
            "batch_get_into_multi_buffer_ranges", *rows, lambda pool, rows: pool.get_sessions.read(keys, rows)
        )

    def batch_get_session_end(self, keys: Sequence[str]) -> int:
        """Ends the sessions of these keys, those that have one. 0; -1 for a store that is not set up."""
        pool = self._pool
        if pool is None:
            self._without_pool("batch_get_session_end")
            return int(ErrorCode.INTERNAL_ERROR)
        pool.get_sessions.end(keys)
        return 0

    def batch_put_session_start(
        self, keys: Sequence[str], sizes: Sequence[int], config: ReplicateConfig | None = None
    ) -> list[int]:
        """Begins values of these sizes that are written in parts, by batch_put_from_multi_buffer_ranges(): makes room for them
        on the storage nodes, which no reader sees before batch_put_session_end(). 0 or the code of each: -705 when the key
        has a value or another client is putting it, -600 when it has a session here, or size or config are wrong, -200
        when there is no room; what is being written in parts may hold a quarter of a node's memory.

        A session lasts 30 s at most. It is over before that when all its storage nodes are lost, when this process ends, or
        when another leader follows: then its room goes back, and -707 says that it can only be started again.

        After setup_dummy() values are put together here, 4 GiB of them (-200 beyond), each at most local_buffer_size (-600
        beyond), and stored at their end; then nothing ends a session but that, and of several clients that put one key the
        first to end it wins.
        """
        if self._pool is None:
            return self._without_pool("batch_put_session_start")
        if len(keys) != len(sizes):
            return self._refuse("batch_put_session_start", len(keys), f"{len(keys)} keys but {len(sizes)} sizes")
        config = config or DEFAULT_CONFIG
        how = self._how("batch_put_session_start", config, len(keys))
        if how is None:
            return [INVALID_PARAMS] * len(keys)

        def start(pool: Pool) -> list[int]:
            node = pool.nodes_for(config.preferred())
            return pool.put_sessions.start(keys, sizes, How(how["replicas"], how["keep"], node), how["groups"])

        return self._for_each("batch_put_session_start", keys, start)

    def batch_put_from_multi_buffer_ranges(
        self,
        keys: Sequence[str],
        all_buffer_ptrs: Sequence[Sequence[int]],
        all_sizes: Sequence[Sequence[int]],
        all_dst_offsets: Sequence[Sequence[int]],
    ) -> list[int]:
        """Writes pieces of registered memory to the values of sessions, each to its offset in the value, in any order: the
        bytes of all pieces of a key, or its code; -600 and none of them for a wrong piece or a key without a session, -702
        for a key without pieces. -600 and -901 leave the session as it was; after -200 of a full queue the write may be
        repeated, or the value started again; any other code of a transfer ends it: further writes and its end are -707, and it
        can be started again."""
        rows = (keys, all_buffer_ptrs, all_sizes, all_dst_offsets)
        return self._rows(
            "batch_put_from_multi_buffer_ranges",
            *rows,
            lambda pool, rows: pool.put_sessions.write(keys, rows),
        )

    def batch_put_session_end(self, keys: Sequence[str]) -> list[int]:
        """Makes the values of these sessions readable. 0, or the code of each: -600 while bytes of the value were never
        written, and the session goes on; -707 when it is over without a value. After any other, as -901 when no answer came in
        time, it can be ended again: 0 when the value was stored meanwhile."""
        if self._pool is None:
            return self._without_pool("batch_put_session_end")
        return self._for_each("batch_put_session_end", keys, lambda pool: pool.put_sessions.end(keys))

    def batch_put_session_revoke(self, keys: Sequence[str]) -> list[int]:
        """Drops these sessions and what was written. 0, or -600 for a key without one."""
        if self._pool is None:
            return self._without_pool("batch_put_session_revoke")
        return self._for_each("batch_put_session_revoke", keys, lambda pool: pool.put_sessions.revoke(keys))

    # ---- inside

    def _rows(
        self,
        method: str,
        keys: Sequence[str],
        pointers: Sequence[Sequence[int]],
        sizes: Sequence[Sequence[int]],
        offsets: Sequence[Sequence[int]],
        call: Callable[[Pool, list[Row]], list[int]],
    ) -> list[int]:
        if self._pool is None:
            return self._without_pool(method)
        if not len(keys) == len(pointers) == len(sizes) == len(offsets):
            lists = f"{len(pointers)} lists of addresses, {len(sizes)} of sizes and {len(offsets)} of offsets"
            return self._refuse(method, len(keys), f"{len(keys)} keys but {lists}")
        rows = list(map(Row, pointers, sizes, offsets))
        return self._for_each(method, keys, lambda pool: call(pool, rows))


def _parts(
    buffer_ptrs: Sequence[int],
    all_keys: Sequence[Sequence[str]],
    all_dst_offsets: Sequence[Sequence[Sequence[int]]],
    all_src_offsets: Sequence[Sequence[Sequence[int]]],
    all_sizes: Sequence[Sequence[Sequence[int]]],
) -> Iterator[Wanted]:
    """ValueError where lists that belong together differ in length."""
    for buffer, *of_buffer in zip(buffer_ptrs, all_keys, all_dst_offsets, all_src_offsets, all_sizes, strict=True):
        for key, *of_key in zip(*of_buffer, strict=True):
            for target, offset, size in zip(*of_key, strict=True):
                yield Wanted(key, buffer + target if target >= 0 else target, offset, size)
