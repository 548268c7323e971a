# SPDX-License-Identifier: Apache-2.0
"""`mooncake_http_metadata_server`: where transfer engines that were given "http://HOST:PORT/metadata" find each other.

Values by key, in memory: GET, PUT and DELETE /metadata?key=KEY, and GET /health. Clients of a pool need none.
"""

from __future__ import annotations

import argparse
import enum
import logging
import signal
import socket
import socketserver
import sys
import threading
import urllib.parse
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_logger = logging.getLogger("mooncake.metadata")
KEY_BYTES_MAX = 1024
VALUE_BYTES_MAX = 1 << 20
KEYS_MAX = 100_000
CONNECTIONS_MAX = 256
_CLOSE_SECONDS = 0.1  # how long close() may take
_STOP_SECONDS = 5.0


class KVPoll(enum.Enum):
    """How a server is; it is Failed or Success."""

    Failed = 0
    Bootstrapping = 1
    WaitingForInput = 2
    Transferring = 3
    Success = 4


class KVBootstrapServer:
    """The server, in threads of this process.

    Args:
        port: to listen on; 0 takes a free one.
        host: address to listen on.
    """

    def __init__(self, port: int, host: str = "0.0.0.0") -> None:
        self.port = port
        self.host = host
        self.thread: threading.Thread | None = None
        self._server: _Server | None = None

    def run(self) -> threading.Thread:
        """Begins to serve; when it returns, `port` answers. OSError when it cannot listen there."""
        self._server = _Server(self.host, self.port)
        self.port = self._server.server_address[1]
        self.thread = threading.Thread(
            target=self._server.serve_forever, args=(_CLOSE_SECONDS,), name="mooncake-metadata", daemon=True
        )
        self.thread.start()
        return self.thread

    def close(self) -> None:
        """Ends it and forgets everything. May be called again."""
        server, self._server = self._server, None
        if server is None:
            return
        server.shutdown()
        server.server_close()
        if self.thread is not None:
            self.thread.join(_STOP_SECONDS)

    def poll(self) -> KVPoll:
        """Success while it serves, else Failed."""
        serves = self._server is not None and self.thread is not None and self.thread.is_alive()
        return KVPoll.Success if serves else KVPoll.Failed


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, host: str, port: int) -> None:
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.lock = threading.Lock()
        self.values: dict[str, bytes] = {}
        self._free = threading.Semaphore(CONNECTIONS_MAX)
        super().__init__((host, port), _Handler)

    def server_bind(self) -> None:
        """Without asking a name server for the name of this machine, as the base class does."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), self.server_address[1]

    def process_request(self, request: Any, client_address: Any) -> None:
        """Each connection has a thread. One too many is closed."""
        if self._free.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free.release()


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = 60  # seconds that a connection may be silent

    def do_GET(self) -> None:
        if urllib.parse.urlsplit(self.path).path == "/health":
            return self._answer(200, b"OK")
        key = self._key()
        if key is None:
            return
        with self.server.lock:
            value = self.server.values.get(key)
        return self._answer(404, b"metadata not found") if value is None else self._answer(200, value)

    def do_PUT(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit() or int(length) > VALUE_BYTES_MAX:
            self.close_connection = True
            return self._answer(413, b"a value of at most %d bytes is required, with its length" % VALUE_BYTES_MAX)
        value = self.rfile.read(int(length))
        key = self._key()
        if key is not None:
            self._answer(*self._put(key, value))

    def do_DELETE(self) -> None:
        key = self._key()
        if key is None:
            return
        with self.server.lock:
            value = self.server.values.pop(key, None)
        self._answer(*((404, b"metadata not found") if value is None else (200, b"metadata deleted")))

    def _put(self, key: str, value: bytes) -> tuple[int, bytes]:
        """The place of an engine is not replaced by that of another, which would take over its peers."""
        with self.server.lock:
            held = self.server.values.get(key)
            if held == value:
                return 200, b"metadata unchanged"
            if held is not None and "rpc_meta" in key:
                return 400, b"Duplicate rpc_meta key not allowed"
            if held is None and len(self.server.values) >= KEYS_MAX:
                return 507, b"%d keys are held, the most there may be" % KEYS_MAX
            self.server.values[key] = value
        return 200, b"metadata updated"

    def _key(self) -> str | None:
        """The key of the request; None when there is none, which has been answered then."""
        url = urllib.parse.urlsplit(self.path)
        if url.path != "/metadata":
            self._answer(404, b"not found")
            return None
        key = urllib.parse.parse_qs(url.query).get("key", [""])[0].strip()
        if not key or len(key.encode()) > KEY_BYTES_MAX:
            self._answer(400, b"metadata key is required, of at most %d bytes" % KEY_BYTES_MAX)
            return None
        return key

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *arguments: object) -> None:
        _logger.debug(format, *arguments)


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="mooncake_http_metadata_server",
        description="Where transfer engines that use a metadata server find each other.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("--port", type=int, default=8080, help="port to listen on")
    parser.add_argument("--host", default="0.0.0.0", help="address to listen on")
    parser.add_argument(
        "--log-level", choices=["DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"], default="INFO", help="lowest level"
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Serves until SIGTERM or SIGINT. 1 when it cannot listen."""
    options = parse(arguments)
    logging.basicConfig(level=options.log_level, format="%(asctime)s %(name)s %(levelname)s %(message)s")
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    server = KVBootstrapServer(options.port, options.host)
    try:
        server.run()
    except OSError as error:
        _logger.error("cannot listen on %s port %d: %s", options.host, options.port, error)
        return 1
    _logger.info("http://%s:%d/metadata", server.host, server.port)
    stop.wait()
    server.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
