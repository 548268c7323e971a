# SPDX-License-Identifier: Apache-2.0
"""The HTTP that setup(enable_client_http_server=True) asks for: whether this client has a leader, and its counters."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from kvpool import KvpoolError

_OPEN_MAX = 16

_METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8"

# Numbers of this moment; all others only rise.
_GAUGES = frozenset(("leader_known", "epoch"))

# As dashboards of the reference know them.
_REFERENCE_NAMES = {"get_bytes": "mooncake_transfer_read_bytes", "put_bytes": "mooncake_transfer_write_bytes"}
_REFERENCE_RPCS = {
    "grant": "BatchPutStart",
    "publish": "BatchPutEnd",
    "lookup": "BatchGetReplicaList",
    "exists": "BatchExistKey",
    "remove": "BatchRemove",
    "remove_all": "RemoveAll",
    "copy": "CreateCopyTask",
    "task": "QueryTask",
    "hint": "Hint",
}

# Bounds of durations in microseconds, and the counters of stats() that have them; what is above the last is "longer".
_STEPS = {100: "in_100us", 1_000: "in_1ms", 10_000: "in_10ms", 100_000: "in_100ms", 1_000_000: "in_1s"}
_RPC_STEPS_FROM = 10_000  # those are measured in milliseconds


class ClientHttp:
    """GET /health (200, or 503 without a leader), /metrics and /metrics/summary, until close().

    A port that cannot be had is said in the log and otherwise left alone: without its probe an engine works all the same.
    """

    def __init__(
        self,
        port: int,
        stats: Callable[[], Mapping[str, int]],
        durations: Callable[[], Mapping[str, tuple[int, ...]]],
        logger: logging.Logger,
    ) -> None:
        self._server: ThreadingHTTPServer | None = None
        try:
            listening = _listen(port)
        except OSError as problem:
            logger.error(
                "client_http_port %d cannot be listened on: %s; /health and /metrics of this process are not served: give "
                "each process of a machine a client_http_port of its own",
                port,
                problem.strerror,
            )
            return
        self._server = _Server(listening, stats, durations)
        threading.Thread(target=self._server.serve_forever, name="mooncake-client-http", daemon=True).start()
        logger.info("serves /health, /metrics and /metrics/summary at port %d", self.port)

    @property
    def port(self) -> int:
        """Where it listens; 0 when it does not."""
        return int(self._server.socket.getsockname()[1]) if self._server is not None else 0

    def close(self) -> None:
        server, self._server = self._server, None
        if server is not None:
            server.shutdown()
            server.server_close()


def _listen(port: int) -> socket.socket:
    """At all addresses of the machine, as probes come from anywhere."""
    if socket.has_dualstack_ipv6():
        return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
    return socket.create_server(("", port))


def answer(
    path: str, stats: Callable[[], Mapping[str, int]], durations: Callable[[], Mapping[str, tuple[int, ...]]]
) -> tuple[int, str, str]:
    """Status, type and body."""
    try:
        numbers = {name: int(number) for name, number in stats().items()}  # truths too
        taken = durations()
    except KvpoolError as problem:
        return 503, "text/plain", f"the client does not work: {problem}\n"
    if path == "/health":
        if numbers["leader_known"]:
            return 200, "text/plain", "OK\n"
        return 503, "text/plain", "no leader is connected: see whether the pool's masters can be reached from here\n"
    if path == "/metrics":
        return 200, _METRICS_TYPE, "".join((*_series(numbers), *_latencies(numbers, taken), *_rpcs(taken)))
    if path == "/metrics/summary":
        return 200, "text/plain", " | ".join(f"{name} {number}" for name, number in numbers.items()) + "\n"
    return 404, "text/plain", "GET /health, /metrics and /metrics/summary are served here\n"


def _series(numbers: Mapping[str, int]) -> Iterator[str]:
    for name, number in numbers.items():
        if name in _GAUGES:
            yield f"# TYPE kvpool_client_{name} gauge\nkvpool_client_{name} {number}\n"
        else:
            yield f"# TYPE kvpool_client_{name}_total counter\nkvpool_client_{name}_total {number}\n"
        if name in _REFERENCE_NAMES:
            yield f"# TYPE {_REFERENCE_NAMES[name]} counter\n{_REFERENCE_NAMES[name]} {number}\n"


def _latencies(numbers: Mapping[str, int], taken: Mapping[str, tuple[int, ...]]) -> Iterator[str]:
    for op in ("put", "get"):
        batches = [numbers[f"{op}_batches_{step}"] for step in (*_STEPS.values(), "longer")]
        for name, us, counts in (
            (f"mooncake_transfer_batch_{op}_latency", numbers[f"{op}_batch_us"], batches),
            (f"mooncake_transfer_{op}_latency", taken[f"single_{op}"][0], taken[f"single_{op}"][1:]),
        ):
            yield f"# TYPE {name} histogram\n"
            yield from _histogram(name, "", us, counts)


def _rpcs(taken: Mapping[str, tuple[int, ...]]) -> Iterator[str]:
    yield "# TYPE mooncake_client_rpc_count counter\n"
    for kind, rpc in _REFERENCE_RPCS.items():
        yield f'mooncake_client_rpc_count{{rpc_name="{rpc}"}} {sum(taken[kind][1:])}\n'
    yield "# TYPE mooncake_client_rpc_latency histogram\n"
    for kind, rpc in _REFERENCE_RPCS.items():
        us, *counts = taken[kind]
        yield from _histogram("mooncake_client_rpc_latency", f'rpc_name="{rpc}",', us, counts, _RPC_STEPS_FROM)


def _histogram(name: str, labels: str, us: int, counts: Sequence[int], steps_from: int = 0) -> Iterator[str]:
    """Of counts by step, which become those up to each bound."""
    so_far = 0
    for bound, count in zip(_STEPS, counts, strict=False):
        so_far += count
        if bound >= steps_from:
            yield f'{name}_bucket{{{labels}le="{bound}"}} {so_far}\n'
    own = f"{{{labels.rstrip(',')}}}" if labels else ""
    yield f'{name}_bucket{{{labels}le="+Inf"}} {sum(counts)}\n{name}_sum{own} {us}\n{name}_count{own} {sum(counts)}\n'


class _Server(ThreadingHTTPServer):
    """A thread for each connection. The oldest ends when there are too many, so that one that says little keeps out no probe."""

    daemon_threads = True

    def __init__(
        self,
        listening: socket.socket,
        stats: Callable[[], Mapping[str, int]],
        durations: Callable[[], Mapping[str, tuple[int, ...]]],
    ) -> None:
        super().__init__(listening.getsockname()[:2], _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = listening
        self.stats = stats
        self.durations = durations
        self._lock = threading.Lock()
        self._open: list[socket.socket] = []

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            self._open.append(request)
            if len(self._open) > _OPEN_MAX:
                with contextlib.suppress(OSError):  # it has ended meanwhile
                    self._open.pop(0).shutdown(socket.SHUT_RDWR)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock, contextlib.suppress(ValueError):
            self._open.remove(request)
        super().shutdown_request(request)


class _Handler(BaseHTTPRequestHandler):
    timeout = 10  # seconds that a client may be silent
    server: _Server

    def do_GET(self) -> None:
        status, kind, body = answer(self.path.partition("?")[0], self.server.stats, self.server.durations)
        content = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_arguments: object) -> None:
        """Probes come every few seconds."""
