# SPDX-License-Identifier: Apache-2.0
"""The class of mooncake.engine that sends messages."""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mooncake.answers.error_code import ErrorCode
from mooncake.answers.failure_log import FailureLog
from mooncake.messages.frames import MESSAGE_BYTES_MAX, Kind
from mooncake.messages.inbox import Inbox
from mooncake.messages.outbox import Outbox
from mooncake.messages.received import ReceivedTensor
from mooncake.methods.tensor_values import value_of
from mooncake.tensors.tensor_format import decode

if TYPE_CHECKING:
    import torch  # type: ignore[import-not-found, unused-ignore]
    from typing_extensions import Buffer

_FAILED = int(ErrorCode.INTERNAL_ERROR)
_THREADS = 8

_logger = logging.getLogger("mooncake.engine")


class RpcInterface:
    """Messages between processes of one application: bytes and tensors, each sent once and answered when the other side's
    callback has returned. Methods may be called by any number of threads. A message has at most 1 GiB. Peers speak this
    class's own protocol, not the reference's, over TCP, without encryption and without asking who is there: for networks where
    all may send.
    """

    def __init__(self) -> None:
        self._address: tuple[str, int] | None = None
        self._threads, self._seconds = _THREADS, 30.0
        self._outbox: Outbox | None = None
        self._inbox: Inbox | None = None
        self._take_data: Callable[[dict[str, Any]], object] | None = None
        self._take_tensor: Callable[[ReceivedTensor], object] | None = None
        self._failures = FailureLog(_logger)

    def initialize(
        self, listen_address: str = "", thread_count: int = 0, timeout_seconds: int = 30, pool_size: int = 100
    ) -> bool:
        """Prepares for sending, and with an address for start_server().

        Args:
            listen_address: "HOST:PORT", for example "0.0.0.0:8080"; "" only sends.
            thread_count: messages that are received, or in callbacks, at a time; 0 for 8.
            timeout_seconds: a message fails that is not answered for so long.
            pool_size: connections to one peer that are kept.

        Returns:
            False for what cannot be; the log says why.
        """
        try:
            if thread_count < 0 or timeout_seconds <= 0 or pool_size < 0:
                raise ValueError(
                    f"thread_count {thread_count}, timeout_seconds {timeout_seconds}, pool_size {pool_size}"
                )
            address = _address(listen_address) if listen_address else None
        except ValueError as problem:
            self._failed("initialize", str(problem))
            return False
        self._address, self._threads, self._seconds = address, thread_count or _THREADS, float(timeout_seconds)
        self._outbox = Outbox(self._seconds, pool_size)
        return True

    def initialize_client(self, pool_size: int = 100, timeout_seconds: int = 30) -> bool:
        """initialize() of one that only sends."""
        return self.initialize("", 0, timeout_seconds, pool_size)

    def initialize_server(self, listen_address: str, thread_count: int = 8, timeout_seconds: int = 30) -> bool:
        """initialize() of one that others send to."""
        return self.initialize(listen_address, thread_count, timeout_seconds)

    # ---- others send here

    def set_data_receive_callback(self, callback: Callable[[dict[str, Any]], object]) -> None:
        """Is called with {"source": "HOST:PORT", "data": bytes}. What it raises is in the log, and a failure for the sender."""
        self._take_data = callback

    def set_tensor_receive_callback(self, callback: Callable[[ReceivedTensor], object]) -> None:
        """Is called with a ReceivedTensor, likewise."""
        self._take_tensor = callback

    def start_server(self) -> bool:
        """start_server_async(), and waits for stop_server() of another thread."""
        if not self.start_server_async():
            return False
        inbox = self._inbox
        if inbox is not None:
            inbox.wait()
        return True

    def start_server_async(self) -> bool:
        """Listens. False without an address, where it is in use, and where this listens already; the log says why."""
        if self._address is None or self._inbox is not None:
            self._failed("start_server", "no listen_address" if self._address is None else "it listens already")
            return False
        try:
            report = functools.partial(self._failed, "receive")
            self._inbox = Inbox(self._address, self._threads, self._seconds, self._take, report)
        except OSError as failure:
            self._failed("start_server", f"{self._address[0]}:{self._address[1]}: {failure}")
            return False
        return True

    def stop_server(self) -> None:
        """No callback begins any more when it returns."""
        inbox, self._inbox = self._inbox, None
        if inbox is not None:
            inbox.close()

    # ---- to others

    def send_data(self, target_address: str, data: Buffer) -> int:
        """Sends bytes of any contiguous buffer. 0 when the other side's callback has taken them, else -1; the log says why."""
        return self._send("send_data", target_address, Kind.DATA, memoryview(data).cast("B"))

    def send_tensor(self, target_address: str, tensor: torch.Tensor) -> int:
        """Sends a tensor of torch, of any type and number of dimensions, from any device. 0 or -1, as send_data()."""
        try:
            value = value_of(tensor)
        except Exception as failure:  # whatever torch raises
            return self._failed("send_tensor", f"no tensor that can be sent: {failure}")
        return self._send("send_tensor", target_address, Kind.TENSOR, value)

    def send_data_async(
        self, target_address: str, data: Buffer, loop: asyncio.AbstractEventLoop
    ) -> asyncio.Future[int]:
        """send_data() in a thread of `loop`, which must be the running one; awaited for 0 or -1."""
        return loop.run_in_executor(None, self.send_data, target_address, data)

    def send_tensor_async(
        self, target_address: str, tensor: torch.Tensor, loop: asyncio.AbstractEventLoop
    ) -> asyncio.Future[int]:
        """send_tensor() likewise. The tensor is read when its turn comes: leave it as it is until then."""
        return loop.run_in_executor(None, self.send_tensor, target_address, tensor)

    def _send(self, method: str, target: str, kind: Kind, body: Buffer) -> int:
        if self._outbox is None:
            return self._failed(method, "initialize() was not called")
        length = memoryview(body).nbytes
        if length > MESSAGE_BYTES_MAX:
            return self._failed(method, f"a message of {length} bytes, but {MESSAGE_BYTES_MAX} is the most")
        try:
            taken = self._outbox.send(_address(target), kind, body)
        except (OSError, ValueError) as failure:
            return self._failed(method, f"{target}: {failure}")
        return 0 if taken else self._failed(method, f"{target} did not take it: its log says why")

    def _take(self, kind: Kind, body: bytearray, source: str) -> bool:
        try:
            if kind is Kind.DATA and self._take_data is not None:
                self._take_data({"source": source, "data": bytes(body)})
            elif kind is Kind.TENSOR and self._take_tensor is not None:
                header = decode(body)
                elements = memoryview(body)[header.header_bytes :]
                self._take_tensor(ReceivedTensor(source, list(header.shape), header.dtype, elements))
            else:
                self._failed("receive", f"{source} sent a {kind.name.lower()}, and there is no callback for it")
                return False
        except Exception as failure:  # of the callback
            _logger.exception("rpc: a message of %s was not taken: %s", source, failure)
            return False
        return True

    def _failed(self, method: str, why: str) -> int:
        self._failures.write(method, _FAILED, "rpc", why)
        return _FAILED


CoroRPCInterface = RpcInterface


def create_rpc_client(local_rank: int = 0, world_size: int = 1) -> RpcInterface:
    """One that only sends. The arguments have no effect, as in the reference."""
    client = RpcInterface()
    client.initialize_client(pool_size=10)
    return client


def create_rpc_server(local_rank: int = 0, world_size: int = 1) -> RpcInterface:
    """One that listens at 0.0.0.0:8080 once it is started. The arguments have no effect, as in the reference."""
    server = RpcInterface()
    server.initialize("0.0.0.0:8080", pool_size=10)
    return server


def _address(text: str) -> tuple[str, int]:
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or not 0 < int(port) < 1 << 16:
        raise ValueError(f"{text!r} is no HOST:PORT")
    return host.removeprefix("[").removesuffix("]"), int(port)
