# SPDX-License-Identifier: Apache-2.0
"""Tables of embeddings in a store: a value for each table, of which a lookup reads the rows that it needs."""

from __future__ import annotations

import operator
import uuid
from collections.abc import Sequence
from typing import Any

from mooncake.replicas.replicate_config import ReplicateConfig

_ABSENT = -704


class EngramStoreConfig:
    """Of what size the tables of a layer are.

    Attributes:
        embedding_dim: numbers of a row, 1 or more; default 64.
        table_vocab_sizes: rows of each table, one table for each head; default [1024].
    """

    def __init__(self) -> None:
        self._embedding_dim = 64
        self._table_vocab_sizes = [1024]

    @property
    def embedding_dim(self) -> int:
        return self._embedding_dim

    @embedding_dim.setter
    def embedding_dim(self, value: int) -> None:
        self._embedding_dim = operator.index(value)

    @property
    def table_vocab_sizes(self) -> list[int]:
        return list(self._table_vocab_sizes)

    @table_vocab_sizes.setter
    def table_vocab_sizes(self, value: Sequence[int]) -> None:
        self._table_vocab_sizes = [operator.index(one) for one in value]


class EngramStore:
    """The tables of one layer, as values of a store, for any number of threads and processes. Numbers are float32.

    Args:
        layer_id: names the tables, together with their heads; see get_store_keys().
        config: is copied.
        store: a MooncakeDistributedStore that is set up. Without one every call that needs it raises RuntimeError.

    Raises:
        ValueError: a number of the config is not positive, or there are no tables.
    """

    def __init__(self, layer_id: int, config: EngramStoreConfig, store: Any = None) -> None:
        sizes, width = config.table_vocab_sizes, config.embedding_dim
        if not sizes or min(sizes) <= 0 or width <= 0:
            raise ValueError(
                f"table_vocab_sizes is {sizes} and embedding_dim {width}, but there must be a table, and all must be positive"
            )
        if store is not None and not hasattr(store, "get_into_ranges"):
            raise RuntimeError(f"a {type(store).__name__} is no store")
        self._keys = [f"engram:l{operator.index(layer_id)}:h{head}" for head in range(len(sizes))]
        self._claim_key = f"engram:l{operator.index(layer_id)}:claim"
        self._sizes, self._width, self._store = sizes, width, store

    def get_table_vocab_sizes(self) -> list[int]:
        """Rows of each table."""
        return list(self._sizes)

    def get_store_keys(self) -> list[str]:
        """The key of each table."""
        return list(self._keys)

    def get_num_heads(self) -> int:
        """How many tables there are."""
        return len(self._sizes)

    def get_embedding_dim(self) -> int:
        """Numbers of a row."""
        return self._width

    def populate(self, embedding_buffers: list[Any]) -> None:
        """Stores all tables of the layer, none of which may be there: remove_from_store() first. Of several that do it at a
        time, in any processes, at most one stores its tables.

        Args:
            embedding_buffers: an array of numpy for each table, of as many rows and numbers as the config says.

        Raises:
            RuntimeError: they do not fit, a table is there already, another populates the layer (or ended while it did), or the
                store failed; nothing was stored then. Or the layer was removed meanwhile: remove it again, and repeat.
        """
        import numpy  # type: ignore[import-not-found, unused-ignore]

        store = self._needed("populate")
        if len(embedding_buffers) != len(self._keys):
            raise RuntimeError(f"{len(embedding_buffers)} arrays for {len(self._keys)} tables")
        tables = []
        for head, (given, rows) in enumerate(zip(embedding_buffers, self._sizes, strict=True)):
            if (
                not isinstance(given, numpy.ndarray)
                or given.shape != (rows, self._width)
                or given.dtype.kind not in "fiu"
            ):
                raise RuntimeError(f"table {head} takes an array of numpy of shape {(rows, self._width)}")
            tables.append(numpy.ascontiguousarray(given, "float32"))
        claim = uuid.uuid4().hex.encode()
        self._take_claim(store, claim)
        try:
            self._put_absent(store, tables)
        finally:
            # The claim of another, who could take it as ours was removed, stays.
            is_ours = store.get(self._claim_key) == claim
            if is_ours:
                store.remove(self._claim_key, True)
        if not is_ours:
            raise RuntimeError(
                f"the claim {self._claim_key!r} was lost while the layer was populated; remove_from_store() and try again"
            )

    def _take_claim(self, store: Any, claim: bytes) -> None:
        """A put of a key that is there answers 0 and stores nothing, so what is there then says whose it is."""
        # Not evicted, however large the tables are.
        code = store.put(self._claim_key, claim, ReplicateConfig(with_hard_pin=True))
        if code != 0:
            raise RuntimeError(f"{self._claim_key!r} was not stored: {code}")
        if store.get(self._claim_key) != claim:
            raise RuntimeError(
                f"another populates the layer, by its claim {self._claim_key!r}; if it ended before it was done, "
                "remove_from_store() first"
            )

    def _put_absent(self, store: Any, tables: Sequence[Any]) -> None:
        """Under a claim: what is there then was there before."""
        there = store.batch_is_exist(self._keys)
        if wrong := [f"{key}: {code}" for key, code in zip(self._keys, there, strict=True) if code != 0]:
            raise RuntimeError(
                f"populate needs a layer that is not there, but is_exist says {', '.join(wrong)}; remove_from_store() first"
            )
        for number, (key, table) in enumerate(zip(self._keys, tables, strict=True)):
            code = store.put(key, memoryview(table).cast("B"))
            if code != 0:
                store.batch_remove(self._keys[:number], True)
                raise RuntimeError(f"{key!r} was not stored: {code}")

    def lookup(self, row_ids: Any) -> Any:
        """Reads rows of all tables, and only those.

        Args:
            row_ids: numbers of rows, of shape [B, L, H]: H tables.

        Returns:
            An array of numpy, float32, of shape [B, L, H, D].

        Raises:
            RuntimeError: a number or the shape is wrong, a table is not there, or the store failed.
        """
        import numpy

        store = self._needed("lookup")
        ids = numpy.asarray(row_ids)
        if ids.ndim != 3 or ids.shape[2] != len(self._keys) or ids.size == 0:
            raise RuntimeError(
                f"row_ids must have the shape [B, L, {len(self._keys)}], and no 0 in it, not {list(ids.shape)}"
            )
        rows = ids.astype("int64")
        if ids.dtype.kind not in "iuf" or (rows != ids).any() or (rows < 0).any() or (rows >= self._sizes).any():
            raise RuntimeError(f"row_ids must be numbers of rows: 0 or more, and below {self._sizes}")
        found = numpy.empty((*ids.shape, self._width), "float32")
        width, heads, address = self._width * found.itemsize, len(self._keys), found.ctypes.data
        flat = (rows.reshape(-1, heads) * width).T.tolist()
        targets = [[(at * heads + head) * width for at in range(len(flat[0]))] for head in range(heads)]
        sizes = [[width] * len(flat[0])] * heads
        if (code := store.register_buffer(address, found.nbytes)) != 0:
            raise RuntimeError(f"memory for {found.nbytes} bytes cannot be registered: {code}")
        try:
            answers = store.get_into_ranges([address], [self._keys], [targets], [flat], [sizes])
        finally:
            store.unregister_buffer(address)
        for key, got in zip(self._keys, answers[0] if answers else [[-600]] * heads, strict=True):
            if any(one != width for one in got):
                raise RuntimeError(f"rows of {key!r} were not read: {min(got)}")
        return found

    def remove_from_store(self, force: bool = False) -> int:
        """Removes all tables; how many there were. RuntimeError when one cannot be removed, as a reader may still use it."""
        codes = self._needed("remove_from_store").batch_remove(self._keys, force)
        if failed := [code for code in codes if code not in (0, _ABSENT)]:
            raise RuntimeError(f"{len(failed)} of {len(codes)} tables were not removed: {failed[0]}")
        if (code := self._store.remove(self._claim_key, True)) not in (0, _ABSENT):
            raise RuntimeError(f"{self._claim_key!r} was not removed: {code}")
        return list(codes).count(0)

    def _needed(self, call: str) -> Any:
        if self._store is None:
            raise RuntimeError(f"{call}() needs a store")
        return self._store
