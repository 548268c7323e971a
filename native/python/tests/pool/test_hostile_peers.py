# SPDX-License-Identifier: Apache-2.0
"""Peers that say what they may not, over real sockets, to a pool that afterwards works as before: puts, gets, a new leader."""

import contextlib
import fcntl
import os
import random
import re
import signal
import socket
import threading
from collections.abc import Callable, Iterator

import pytest
from conftest import open_store
from local_pool import LocalPool
from waiting import eventually
from wire import CODEC, HEADER, Fields, Peer, crc32c, frame

from mooncake.store import MooncakeDistributedStore

NODE, CLIENT = 2, 3
YES = 1
INLINE, STAGING, PARTS = 1, 2, 3
WRITE = 1
COMMITTED = 1
SNAPSHOT, DELTA = 1, 2
DRAM = 1
STATUS = {name: int(code) for name, code in re.findall(r"\b(KV_[A-Z_]+) = (-?\d+)", HEADER.read_text())}
EPOCH_LAST = (1 << 31) - 3  # the highest that a Lease can still follow
STAGING_BYTES = 64 << 20
SEALED = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL
MFD_HUGETLB = 4

KEYS = [f"before/{i}" for i in range(50)]


def value_of(key: str) -> bytes:
    return random.Random(key).randbytes(random.Random(key).randrange(1, 20_000))


class Target:
    """The pool that is attacked, with what an attacker knows: its id, and a grant with the way to a storage node."""

    def __init__(self, pool: LocalPool, store: MooncakeDistributedStore) -> None:
        self.pool = pool
        self.store = store
        self.masters = pool.masters.split(",")
        with Peer(self.masters[0]) as client:
            _, welcome = client.hello(CLIENT, "spy")
        self.pool_id: Fields = welcome["poolId"]
        self._puts = 0

    def grant(self, key: str, length: int) -> tuple[Fields, Fields, str, str]:
        """Authority and object id of a grant, and where to write: address and path of a socket."""
        authority, grant, node = self.granted(key, length)
        path = node["shm"].decode().split(":", 1)[1]
        return authority, grant["objectId"], node["tcp"].decode(), path

    def granted(self, key: str, length: int) -> tuple[Fields, Fields, Fields]:
        """Authority, the grant, and the node that is the first of its targets."""
        replies: list[Fields] = []

        def granted() -> bool:
            for address in self.masters:
                try:
                    with Peer(address) as client:
                        client.hello(CLIENT, "spy", self.pool_id)
                        client.say(
                            "GrantRequest",
                            requestId=1,
                            deadlineMs=1000,
                            replace=YES,
                            keys=[{"payloadLength": length, "key": key}],
                        )
                        _, reply = client.hear("GrantReply")
                except OSError:
                    continue
                if reply["status"] == STATUS["KV_OK"] and reply["grants"][0]["status"] == STATUS["KV_OK"]:
                    replies.append(reply)
                    return True
            return False

        eventually(granted, "a leader grants a put")
        reply = replies[0]
        grant = reply["grants"][0]
        return reply["authority"], grant, reply["nodes"][grant["targets"][0]["node"]]

    def storage_node(self) -> tuple[str, str]:
        _, _, tcp, path = self.grant("where", 1)
        return tcp, path

    def works(self) -> None:
        self._puts += 1
        key = f"after/{self._puts}"
        assert self.store.put(key, b"v") == 0
        assert self.store.get(key) == b"v"
        assert self.store.get_batch(KEYS) == [value_of(key) for key in KEYS]

    def change_leader(self) -> None:
        """Kills it; `kvpool local --restart` starts it again, as a standby."""
        before = self.pool.leader()
        self.pool.kill_and_await_restart(before)
        self.works()
        eventually(self._is_whole, "every master and storage node is there again")

    def _is_whole(self) -> bool:
        try:
            for address in self.masters:
                with Peer(address) as client:
                    client.hello(CLIENT, "spy", self.pool_id)
        except (OSError, EOFError):
            return False
        return len(self.pool.view()["nodes"]) >= 2


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    pool = LocalPool(masters=2, restart=True)
    try:
        store = open_store(pool)
        assert store.put_batch(KEYS, [value_of(key) for key in KEYS]) == 0
        yield Target(pool, store)
        store.close()
    finally:
        pool.close()


class HostileNode:
    """Follows the protocol of a storage node with every master, but for what it says of itself."""

    def __init__(
        self,
        target: Target,
        name: str,
        said: Fields,
        records: tuple[Fields, ...] = (),
        holds_up: bool = False,
    ) -> None:
        self._said = said
        self._holds_up = holds_up
        self._peers: list[Peer] = []
        for address in target.masters:
            peer = Peer(address)
            self._peers.append(peer)
            kind, answer = peer.hello(NODE, name, target.pool_id)
            assert kind == "Welcome", answer
            try:
                peer.say("NodeInfo", **info(**{"isTransient": YES, **said}))
                peer.say("SnapshotBegin")
                if records:
                    peer.say("DirectoryRecords", kind=SNAPSHOT, records=list(records))
                peer.say("SnapshotEnd", count=len(records))
            except OSError:
                continue  # it was closed for the first of these
            threading.Thread(target=self._answer, args=(peer,), daemon=True).start()

    def _answer(self, peer: Peer) -> None:
        shown = 0
        try:
            while True:
                kind, message = peer.hear()
                if kind == "Fence" and self._holds_up:
                    # In the place of the answer, for which a leader waits before it looks around.
                    shown += 1
                    extent = {"segment": 0, "slot": 1, "generation": shown}
                    record = {**far_record(message["authority"]["epoch"]), "extent": extent, "key": "hostile/term"}
                    peer.say("DirectoryRecords", kind=DELTA, sequence=shown, records=[record])
                elif kind == "Fence":
                    seen = self._said.get("seen", message["authority"])
                    peer.say(
                        "FenceAck",
                        requestId=message["requestId"],
                        accepted=YES,
                        seen=seen,
                        incarnation=peer.incarnation,
                        purgeId=self._said.get("purgeId", {}),
                    )
                elif "requestId" in message:
                    peer.say("CommandAck", requestId=message["requestId"], accepted=YES, seen=message["authority"])
                else:
                    peer.say("NodeStats")
        except (OSError, EOFError, ValueError):
            pass

    def close(self) -> None:
        for peer in self._peers:
            # Closing alone would leave a thread in its recv().
            with contextlib.suppress(OSError):
                peer.socket.shutdown(socket.SHUT_RDWR)
            peer.socket.close()


def info(**said: object) -> Fields:
    segment = {"segment": 0, "medium": DRAM, "capacityBytes": 16 << 20, "slots": 1024}
    return {"memory": 7, "segments": [segment], "tcp": "127.0.0.1:9", **said}


def far_record(epoch: int) -> Fields:
    return {
        "state": COMMITTED,
        "extent": {"segment": 0, "slot": 1, "generation": 1},
        "objectId": {"epoch": epoch, "counter": 1},
        "extentBytes": 128,
        "payloadLength": 1,
        "key": KEYS[0],
    }


def test_an_object_of_an_epoch_to_come_is_not_written(target: Target) -> None:
    authority, granted, tcp, _ = target.grant("hostile", 4)
    for epoch in (EPOCH_LAST, (1 << 64) - 1):
        with Peer(tcp) as client:
            client.hello(CLIENT, "hostile", target.pool_id)
            client.say(
                "WriteRequest",
                requestId=1,
                authority=authority,
                objectId={"epoch": epoch, "counter": granted["counter"]},
                payloadLength=4,
                source=INLINE,
                key="hostile",
            )
            client.socket.sendall(b"evil" + crc32c(b"evil").to_bytes(4, "little"))
            _, reply = client.hear("WriteReply")
        assert reply["status"] == STATUS["KV_INVALID_ARGUMENT"], epoch
    target.change_leader()


def test_nothing_is_written_that_the_leader_did_not_grant(target: Target) -> None:
    authority, granted, node = target.granted("hostile/granted", 4)
    good = {
        "requestId": 1,
        "authority": authority,
        "objectId": granted["objectId"],
        "payloadLength": 4,
        "source": INLINE,
        "key": "hostile/granted",
        "mac": granted["targets"][0]["mac"],
    }
    invented = {"epoch": authority["epoch"], "counter": (1 << 64) - 1}
    attempts: dict[str, Fields] = {
        "no mac": {"mac": {}},
        "a guessed mac": {"mac": {"first": 1, "second": 2}},
        "half a mac": {"mac": {"first": good["mac"]["first"]}},
        "an invented id": {"objectId": invented},
        "another key": {"key": "hostile/another"},
        "another length": {"payloadLength": 5},
        "pinned": {"pins": 2},
        "in parts": {"source": PARTS, "key": "hostile/another"},
    }
    address = node["tcp"].decode()
    for what, change in attempts.items():
        assert write(target, address, {**good, **change}) == STATUS["KV_NOT_PERMITTED"], what
    assert write(target, address, good) == STATUS["KV_OK"]
    assert write(target, address, good) == STATUS["KV_EXISTS"], "once"
    target.works()
    target.change_leader()
    assert write(target, address, good) == STATUS["KV_STALE_EPOCH"]


def write(target: Target, address: str, request: Fields) -> int:
    """What a storage node answers to a client that writes this."""
    payload = b"evil!"[: request["payloadLength"]]
    with Peer(address) as client:
        client.hello(CLIENT, "hostile", target.pool_id)
        client.say("WriteRequest", **request)
        if request["source"] == INLINE:
            client.socket.sendall(payload + crc32c(payload).to_bytes(4, "little"))
        _, reply = client.hear("WriteReply")
    return int(reply["status"])


def test_parts_of_no_bytes_from_staging_memory_that_is_not_there_are_refused(target: Target) -> None:
    authority, granted, node = target.granted("hostile/parts", 4)
    with Peer(node["tcp"].decode()) as client:
        client.hello(CLIENT, "hostile", target.pool_id)
        client.say(
            "WriteRequest",
            requestId=1,
            authority=authority,
            objectId=granted["objectId"],
            payloadLength=4,
            source=PARTS,
            key="hostile/parts",
            mac=granted["targets"][0]["mac"],
        )
        _, room = client.hear("WriteReply")
        assert room["status"] == STATUS["KV_OK"]
        client.say(
            "PartsWrite",
            requestId=2,
            extent=room["extent"],
            objectId=granted["objectId"],
            step=WRITE,
            source=STAGING,
        )
        _, reply = client.hear("WriteReply")
        assert reply["status"] == STATUS["KV_INVALID_ARGUMENT"]
    target.works()


@pytest.mark.parametrize(
    ("name", "said", "records"),
    [
        ("purge", {"purgeId": {"epoch": EPOCH_LAST, "counter": 1}}, ()),
        ("seen", {"seen": {"epoch": EPOCH_LAST, "nonce": 1}}, ()),
        ("highest", {"highestObject": {"epoch": EPOCH_LAST, "counter": 1}}, ()),
        ("versions", {"activeWire": 65535, "activeLayout": 65535}, ()),
        ("record", {}, (far_record(EPOCH_LAST),)),
    ],
)
def test_nothing_that_a_node_says_outlives_it(
    target: Target, name: str, said: Fields, records: tuple[Fields, ...]
) -> None:
    """Also not through a leader that comes while it speaks."""
    node = HostileNode(target, f"hostile-{name}", said, records)
    try:
        target.works()
        target.change_leader()
    finally:
        node.close()
    target.works()
    assert target.pool.view()["leader"]["epoch"] < 1000


def test_an_object_of_each_term_that_begins_keeps_no_leader_from_serving(target: Target) -> None:
    before = target.pool.view()["leader"]["epoch"]
    node = HostileNode(target, "hostile-term", {}, holds_up=True)
    try:
        target.change_leader()
        assert target.pool.view()["leader"]["epoch"] <= before + 2
    finally:
        node.close()
    target.works()


def test_nor_what_another_process_says_under_the_name_of_a_storage_node(target: Target) -> None:
    """That stands still; it is one of the two nodes that the leader meets, until the real one goes on."""

    def state_of(name: str) -> str:
        return {node["id"]: node["state"] for node in target.pool.view()["nodes"]}[name]

    real = target.pool.pids["node-1"]
    os.kill(real, signal.SIGSTOP)
    nodes: list[HostileNode] = []
    try:
        eventually(lambda: state_of("node-1") != "ready", "the storage node is missed")
        nodes.append(HostileNode(target, "node-1", {"isTransient": 0, "purgeId": {"epoch": EPOCH_LAST, "counter": 1}}))
    finally:
        os.kill(real, signal.SIGCONT)
        eventually(lambda: target.store.get_batch(KEYS) == [value_of(key) for key in KEYS], "all is readable")
        for node in nodes:
            node.close()
    target.works()
    target.change_leader()


def test_a_storage_node_that_names_no_pool_is_refused(target: Target) -> None:
    with Peer(target.masters[0]) as node:
        kind, answer = node.hello(NODE, "node-0")
        assert (kind, answer["code"]) == ("Refused", 3), answer
        assert b"names no pool" in answer["message"]
    with Peer(target.masters[0]) as node:
        assert node.hello(NODE, "hostile-nameless")[0] == "Welcome", "it may be memory within an engine"
        node.say("NodeInfo", **info())
        assert node.is_closed_by_other()
    with Peer(target.storage_node()[0]) as client:
        kind, answer = client.hello(CLIENT, "hostile")
        assert (kind, answer["code"]) == ("Refused", 3), answer
    target.works()


def test_a_segment_that_no_master_can_follow_is_refused(target: Target) -> None:
    segment = {"segment": 0, "medium": DRAM, "capacityBytes": 64 << 40, "slots": 1024}
    with Peer(target.masters[0]) as node:
        node.hello(NODE, "hostile-large", target.pool_id)
        node.say("NodeInfo", **info(isTransient=YES, segments=[segment]))
        assert node.is_closed_by_other()
    target.works()


def memfd(size: int, flags: int = 0, seals: int = SEALED) -> int:
    descriptor = os.memfd_create("hostile", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING | flags)
    os.ftruncate(descriptor, size)
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    return descriptor


def attach(target: Target, path: str, descriptor: int, size: int) -> tuple[Peer, int]:
    peer = Peer(path)
    assert peer.hello(CLIENT, "hostile", target.pool_id)[0] == "Welcome"
    peer.say_with(descriptor, "ShmAttach", requestId=1, stagingBytes=size)
    os.close(descriptor)
    _, reply = peer.hear("ShmAttached")
    return peer, reply["status"]


def test_staging_memory_that_could_kill_a_node_is_refused(target: Target) -> None:
    _, path = target.storage_node()
    cases: dict[str, Callable[[], int]] = {
        "unsealed": lambda: memfd(8192, seals=0),
        "may still shrink": lambda: memfd(8192, seals=fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL),
        "too short": lambda: memfd(4096),
        "huge pages that are not there": lambda: memfd(1 << 30, MFD_HUGETLB),
        "no memfd": lambda: os.open("/dev/zero", os.O_RDWR),
    }
    for what, make in cases.items():
        peer, status = attach(target, path, make(), 8192)
        peer.socket.close()
        assert status == STATUS["KV_INVALID_ARGUMENT"], what
    target.works()


def test_staging_memory_is_bounded_over_all_clients(target: Target) -> None:
    _, path = target.storage_node()
    peer, status = attach(target, path, memfd(64 << 30), 64 << 30)
    peer.socket.close()
    assert status == STATUS["KV_TOO_LARGE"]
    held: list[Peer] = []
    status = STATUS["KV_OK"]
    while status == STATUS["KV_OK"] and len(held) < 100:
        peer, status = attach(target, path, memfd(STAGING_BYTES), STAGING_BYTES)
        held.append(peer)
    assert status == STATUS["KV_NO_SPACE"]
    assert (len(held) - 1) * STAGING_BYTES <= 1 << 30
    target.works()
    for peer in held:
        peer.socket.close()

    def admitted() -> bool:
        again, outcome = attach(target, path, memfd(STAGING_BYTES), STAGING_BYTES)
        again.socket.close()
        return outcome == STATUS["KV_OK"]

    eventually(admitted, "what the others held is given back")


def test_garbage_and_frames_that_are_cut_off(target: Target) -> None:
    tcp, path = target.storage_node()
    dice = random.Random(20)
    hello = frame(CODEC.encode("Hello", {"role": CLIENT, "name": "hostile"}))
    wrong = bytearray(hello)
    wrong[4] ^= 1
    cases = [
        dice.randbytes(100_000),
        b"GET / HTTP/1.1\r\n\r\n" * 10,
        b"\xff" * 8 + bytes(1000),
        bytes(wrong),
        hello,
        hello[: len(hello) // 2],
        frame(b""),
        frame(dice.randbytes(500)),
    ]
    for address in (*target.masters, tcp, path):
        for case in cases:
            with Peer(address) as peer:
                try:
                    peer.socket.sendall(case)
                    peer.socket.shutdown(socket.SHUT_WR)
                except OSError:
                    continue  # it was closed before it was read to its end
                assert peer.is_closed_by_other(), (address, case[:20])
        with Peer(address) as peer:
            assert peer.hello(CLIENT, "hostile", target.pool_id)[0] == "Welcome"
            peer.socket.sendall(dice.randbytes(100_000))
            assert peer.is_closed_by_other(), address
    target.works()
