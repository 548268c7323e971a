# SPDX-License-Identifier: Apache-2.0
"""An engine that speaks the wire itself, with the certificate in /tls.

stolen_grant.py take       puts one object, has another granted, and prints what it was told of both
stolen_grant.py use WHAT   shows a storage node that, to write the second and to read the first; prints the answers
"""

import json
import os
import re
import socket
import ssl
import sys
from pathlib import Path

from wire import HEADER, Fields, Peer, crc32c

TLS = Path("/tls")
CLIENT = 3
YES = 1
INLINE = 1
WRITTEN = 1
PAYLOAD = b"of tenant one"
STATUS = {int(code): name for name, code in re.findall(r"\b(KV_[A-Z_]+) = (-?\d+)", HEADER.read_text())}


class SecurePeer(Peer):
    def __init__(self, address: str) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False  # certificates of a pool have names of their own
        context.load_verify_locations(TLS / "ca.crt")
        context.load_cert_chain(TLS / "tls.crt", TLS / "tls.key")
        host, port = address.rsplit(":", 1)
        self.socket = context.wrap_socket(socket.create_connection((host.strip("[]"), int(port)), timeout=10))


def ask(
    address: str, pool: Fields, request: str, answer: str, behind: bytes = b"", **fields: object
) -> tuple[Fields, Fields]:
    """What the other side says of itself, and to this."""
    with SecurePeer(address) as peer:
        greeted, told = peer.hello(CLIENT, "wire", pool)
        if greeted != "Welcome":
            sys.exit(f"{address} answered {greeted}: {told}")
        peer.say(request, requestId=1, **fields)
        peer.socket.sendall(behind)
        return told, peer.hear(answer)[1]


def granted(keys: list[str]) -> tuple[str, Fields, Fields]:
    """The leader, its pool, and its reply."""
    wanted = [{"payloadLength": len(PAYLOAD), "key": key} for key in keys]
    for master in os.environ["MOONCAKE_MASTER"].split(","):
        try:
            welcome, reply = ask(
                master, {}, "GrantRequest", "GrantReply", replicas=1, deadlineMs=90_000, replace=YES, keys=wanted
            )
        except OSError as error:
            print(f"{master}: {error}")
            continue
        if STATUS[reply["status"]] == "KV_OK":
            return master, welcome["poolId"], reply
    sys.exit("no master grants")


def write(grant: Fields) -> Fields:
    fields = {name: grant[name] for name in ("authority", "objectId", "pins", "softPinMs", "mac", "key")}
    fields |= {"payloadLength": len(PAYLOAD), "source": INLINE}
    behind = PAYLOAD + crc32c(PAYLOAD).to_bytes(4, "little")
    return ask(grant["tcp"], grant["pool"], "WriteRequest", "WriteReply", behind, **fields)[1]


def read(written: Fields) -> Fields:
    fields = {name: written[name] for name in ("extent", "objectId")}
    return ask(written["tcp"], written["pool"], "ReadRequest", "ReadReply", payloadLength=len(PAYLOAD), **fields)[1]


def take() -> None:
    keys = ["stolen-written", "stolen-granted"]
    master, pool, reply = granted(keys)
    grants = []
    for key, grant in zip(keys, reply["grants"], strict=True):
        target = grant["targets"][0]
        node = reply["nodes"][target["node"]]
        said = {name: grant[name] for name in ("objectId", "pins", "softPinMs")}
        place = {"pool": pool, "tcp": node["tcp"].decode(), "incarnation": node["incarnation"]}
        grants.append({"key": key, "authority": reply["authority"], "mac": target["mac"], **place, **said})
    written = grants[0]
    answer = write(written)
    if STATUS[answer["status"]] != "KV_OK":
        sys.exit(f"the own grant is refused: {STATUS[answer['status']]}")
    written["extent"] = answer["extent"]
    publish = {"objectId": written["objectId"], "outcome": WRITTEN, "key": written["key"]}
    replicas = [{"incarnation": written["incarnation"]}]
    ask(master, pool, "PublishRequest", "PublishReply", objects=[{**publish, "replicas": replicas}])
    print(json.dumps({"written": written, "granted": grants[1]}))


def use(told: Fields) -> None:
    statuses = (write(told["granted"])["status"], read(told["written"])["status"])
    print("write {}, read {}".format(*(STATUS[status] for status in statuses)))


if __name__ == "__main__":
    take() if sys.argv[1] == "take" else use(json.loads(sys.argv[2]))
