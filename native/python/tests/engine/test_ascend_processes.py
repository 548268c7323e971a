# SPDX-License-Identifier: Apache-2.0
"""mooncake.engine.TransferEngine with the protocol ascend, between processes. CANN is the fake of native/test/ascend/fake."""

import re
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import cann_stand_in
import pytest
from conftest import Peer
from waiting import eventually

HERE = "127.0.0.1"
ASCEND = ("P2PHANDSHAKE", "ascend")
PIECES = [1, 4096, 4097, 10000]
SIZE = 10000 * 512
# Slow enough that a transfer is under way when it is looked at.
LONG, BANDWIDTH, BEGUN = 16 << 20, 8 << 20, 1 << 20
PORTS = (17001, 17100)  # not those of other tests, as some must be free again


@pytest.fixture
def cann(tmp_path: Path) -> dict[str, str]:
    return cann_stand_in.variables(tmp_path / "ledger")


@pytest.fixture
def start(cann: dict[str, str]) -> Iterator[Callable[..., Peer]]:
    started: list[Peer] = []

    def begin(*arguments: object, **variables: str) -> Peer:
        ports, size, *location = [*arguments, *[PORTS, SIZE][len(arguments) :]]
        started.append(Peer(ports, size, HERE, *ASCEND, *location, environment={**cann, **variables}))
        return started[-1]

    yield begin
    for each in started:
        if each.process.poll() is None:
            each.kill()


def calls(cann: dict[str, str], function: str) -> int:
    """How often CANN did that, in all processes."""
    return len(re.findall(rf"^\d+ \d+ {function} 0\b", Path(cann["FAKE_ASCEND_LEDGER"]).read_text(), re.MULTILINE))


def place(cann: dict[str, str], peer: Peer) -> str:
    """IP:PORT of its engine of CANN."""
    ledger = Path(cann["FAKE_ASCEND_LEDGER"]).read_text()
    return re.findall(rf"^{peer.process.pid} \d+ Initialize 0 (\S+)", ledger, re.MULTILINE)[0]


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("location", ["cpu:0", "npu:0"])
def test_batches_of_any_number_of_pieces_arrive_whole_both_ways(
    start: Callable[..., Peer], cann: dict[str, str], location: str, asynchronous: bool
) -> None:
    variables = {"ASCEND_USE_ASYNC_TRANSFER": "1"} if asynchronous else {}
    here, there = (start(PORTS, SIZE, location, **variables) for _ in range(2))
    assert "ascend: used" in here.ask("transports")
    for count in PIECES:
        used = SIZE // count * count
        for how, source, destination in (("write", here, there), ("read", there, here)):
            source.ask(f"scramble {count}")
            destination.ask("fill 0")
            assert here.ask(f"pieces {how} {there.address} {there.memory} {count}") == "0"
            assert used == SIZE or destination.ask(f"byte {used}") == "0"
            if used == SIZE:
                assert source.ask("sum") == destination.ask("sum")
    assert calls(cann, "TransferAsync" if asynchronous else "TransferSync") == 2 * len(PIECES)
    assert there.ask("stats served_writes") == there.ask("stats served_reads") == "0", "nothing went by tcp"
    counted = {
        name: int(here.ask(f"stats ascend_{name}"))
        for name in ("transfers", "transfer_failures", "connects", "channels")
    }
    assert counted == {"transfers": 2 * len(PIECES), "transfer_failures": 0, "connects": 1, "channels": 1}
    assert int(here.ask("stats ascend_transfer_us")) > 0


@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("how", ["write", "read"])
@pytest.mark.parametrize("port_of_cann", ["20000", "20700"], ids=["same port", "another port"])
def test_a_peer_that_restarts_in_the_middle_is_reached_again_and_no_byte_is_wrong(
    start: Callable[..., Peer], cann: dict[str, str], port_of_cann: str, how: str, asynchronous: bool
) -> None:
    slow = {"FAKE_ASCEND_BANDWIDTH": str(BANDWIDTH)}
    if asynchronous:
        slow["ASCEND_USE_ASYNC_TRANSFER"] = "1"
    here, there = start(PORTS, LONG, **slow), start(PORTS, LONG, ASCEND_BASE_PORT="20000", **slow)
    again = start((there.port, there.port), LONG, ASCEND_BASE_PORT=port_of_cann, PEER_WAITS="1", **slow)
    here.ask("fill 7" if how == "write" else "fill 0")
    there.ask("fill 5" if how == "read" else "fill 0")
    batch = here.ask(f"begin {how} {there.address} {there.memory}")
    reader, byte = (there, "7") if how == "write" else (here, "5")
    eventually(lambda: reader.ask(f"byte {BEGUN}") == byte, "bytes arrive")
    assert here.ask(f"status {batch}") == "0", "it was to be under way"
    there.kill()
    again.tell("begin")
    again.meet()
    assert outcome(here, batch) == "1"
    assert (place(cann, again) == place(cann, there)) is (port_of_cann == "20000")
    assert calls(cann, "TransferSync" if asynchronous else "TransferAsync") == 0
    assert int(here.ask("stats retries")) >= 1
    assert int(here.ask("stats ascend_transfer_failures")) >= 1
    source, destination = (here, again) if how == "write" else (again, here)
    assert source.ask("sum") == destination.ask("sum")
    again.ask("scramble 9")
    assert here.ask(f"pieces read {again.address} {again.memory} 16") == "0"
    assert here.ask("sum") == again.ask("sum")


def outcome(peer: Peer, batch: str) -> str:
    ends: list[str] = []

    def over() -> bool:
        ends.append(peer.ask(f"status {batch}"))
        return ends[-1] != "0"

    eventually(over, "the transfer ends")
    return ends[-1]


def test_a_peer_without_ascend_is_a_failure_and_tcp_is_not_used_in_silence(
    start: Callable[..., Peer], capfd: pytest.CaptureFixture[str]
) -> None:
    here, plain = start(), Peer(size=SIZE)
    plain.ask("fill 3")
    assert here.ask(f"pieces read {plain.address} {plain.memory} 4") == "-1"
    assert here.ask(f"pieces write {plain.address} {plain.memory} 4") == "-1"
    assert plain.ask("sum") == str(zlib.crc32(b"\3" * SIZE))
    plain.kill()
    assert "has no engine of CANN, and tcp is not in the list of protocols here" in capfd.readouterr().err


def test_without_cann_every_path_that_was_tried_is_named() -> None:
    program = "from mooncake.engine import TransferEngine as T; print(T().initialize('127.0.0.1', 'P2PHANDSHAKE', 'ascend', ''))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == "-1\n"
    for folder in (
        "",
        "/usr/local/Ascend/cann/lib64/",
        "/usr/local/Ascend/ascend-toolkit/latest/lib64/",
        "/usr/local/Ascend/driver/lib64/",
        "/usr/local/Ascend/driver/lib64/common/",
        "/usr/local/Ascend/driver/lib64/driver/",
    ):
        assert f"{folder}libascendcl.so: cannot open shared object file" in ran.stderr
    assert "source its set_env.sh" in ran.stderr and "KVPOOL_PROTOCOL_OVERRIDE=tcp" in ran.stderr
