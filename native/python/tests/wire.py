# SPDX-License-Identifier: Apache-2.0
"""The wire as its schema says it, for peers that say what no client, node or master of ours would."""

import array
import os
import socket
import struct
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

SCHEMA = Path(__file__).parents[2] / "schema" / "kvpool.xml"
HEADER = Path(__file__).parents[2] / "include" / "kvpool" / "kvpool.h"
MAGIC = 0x00314C4F4F50564B
FORMATS = {"uint8": "B", "uint16": "H", "uint32": "I", "uint64": "Q", "int32": "i"}

Fields = dict[str, Any]


def _crc_table() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


CRC_TABLE = _crc_table()


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = (crc >> 8) ^ CRC_TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def frame(body: bytes) -> bytes:
    return struct.pack("<II", len(body), crc32c(body)) + body


class Codec:
    """Fields by name; composites and repeating groups are dictionaries and lists of them. What is left out is zero or empty."""

    def __init__(self) -> None:
        schema = ElementTree.parse(SCHEMA).getroot()
        self._head = (int(schema.attrib["id"]), int(schema.attrib["version"]))
        self._types: dict[str, Any] = dict(FORMATS)
        for kind in schema.find("types"):
            if kind.tag == "composite":
                self._types[kind.attrib["name"]] = [
                    (t.attrib["name"], FORMATS[t.attrib["primitiveType"]]) for t in kind
                ]
            else:
                self._types[kind.attrib["name"]] = FORMATS[kind.attrib["encodingType"]]
        messages = [element for element in schema if element.tag.endswith("message")]
        self._by_name = {message.attrib["name"]: message for message in messages}
        self._by_id = {int(message.attrib["id"]): message for message in messages}

    def encode(self, name: str, fields: Fields) -> bytes:
        message = self._by_name[name]
        block = self._block(message, fields)
        head = struct.pack("<HHHH", len(block), int(message.attrib["id"]), *self._head)
        return head + block + self._rest(message, fields)

    def decode(self, body: bytes) -> tuple[str, Fields]:
        length, template, _, _ = struct.unpack_from("<HHHH", body)
        message = self._by_id[template]
        fields, _ = self._read(message, body, 8, length)
        return message.attrib["name"], fields

    def _block(self, element: ElementTree.Element, fields: Fields) -> bytes:
        out = b""
        for field in element.findall("field"):
            kind = self._types[field.attrib["type"]]
            value = fields.get(field.attrib["name"], {} if isinstance(kind, list) else 0)
            if isinstance(kind, list):
                out += b"".join(struct.pack("<" + code, value.get(part, 0)) for part, code in kind)
            else:
                out += struct.pack("<" + kind, value)
        return out

    def _rest(self, element: ElementTree.Element, fields: Fields) -> bytes:
        out = b""
        for group in element.findall("group"):
            lines = fields.get(group.attrib["name"], [])
            out += struct.pack("<HH", len(self._block(group, {})), len(lines))
            out += b"".join(self._block(group, line) + self._rest(group, line) for line in lines)
        for data in element.findall("data"):
            value = fields.get(data.attrib["name"], b"")
            value = value.encode() if isinstance(value, str) else value
            out += struct.pack("<I", len(value)) + value
        return out

    def _read(self, element: ElementTree.Element, body: bytes, at: int, length: int) -> tuple[Fields, int]:
        fields: Fields = {}
        end = at + length
        for field in element.findall("field"):
            kind = self._types[field.attrib["type"]]
            parts = kind if isinstance(kind, list) else [("", kind)]
            values = {}
            for part, code in parts:
                (values[part],) = struct.unpack_from("<" + code, body, at)
                at += struct.calcsize("<" + code)
            fields[field.attrib["name"]] = values if isinstance(kind, list) else values[""]
        at = end
        for group in element.findall("group"):
            width, count = struct.unpack_from("<HH", body, at)
            at += 4
            lines = fields[group.attrib["name"]] = []
            for _ in range(count):
                line, at = self._read(group, body, at, width)
                lines.append(line)
        for data in element.findall("data"):
            (size,) = struct.unpack_from("<I", body, at)
            fields[data.attrib["name"]] = body[at + 4 : at + 4 + size]
            at += 4 + size
        return fields, at


CODEC = Codec()


class Peer:
    """One end of a connection that says what it is told to."""

    def __init__(self, address: str) -> None:
        """`address` is HOST:PORT, or the path of a unix socket."""
        if address.startswith("/"):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.connect(address)
        else:
            host, port = address.rsplit(":", 1)
            self.socket = socket.create_connection((host.strip("[]"), int(port)))
        self.socket.settimeout(10)

    def __enter__(self) -> "Peer":
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def say(self, message: str, **fields: object) -> None:
        self.socket.sendall(frame(CODEC.encode(message, fields)))

    def say_with(self, descriptor: int, message: str, **fields: object) -> None:
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [descriptor]))]
        self.socket.sendmsg([frame(CODEC.encode(message, fields))], ancillary)

    def hello(self, role: int, name: str, pool: Fields | None = None) -> tuple[str, Fields]:
        """The answer to it, a Welcome or a Refused."""
        one = {"min": 1, "max": 1}
        incarnation = int.from_bytes(os.urandom(8), "little") | 1
        self.say(
            "Hello",
            magic=MAGIC,
            role=role,
            poolId=pool or {},
            incarnation=incarnation,
            wire=one,
            layout=one,
            abi=one,
            name=name,
            product="0.1.0",
        )
        self.incarnation = incarnation
        return self.hear()

    def hear(self, *wanted: str) -> tuple[str, Fields]:
        """The next message, or the next of those that are wanted. EOFError when the other side has closed."""
        while True:
            length, checksum = struct.unpack("<II", self._bytes(8))
            body = self._bytes(length)
            assert crc32c(body) == checksum
            message = CODEC.decode(body)
            if not wanted or message[0] in wanted:
                return message

    def is_closed_by_other(self) -> bool:
        """Reads until the other side has closed; False when it does not within ten seconds."""
        try:
            while self.socket.recv(1 << 16):
                pass
        except TimeoutError:
            return False
        except ConnectionResetError:
            pass
        return True

    def _bytes(self, count: int) -> bytes:
        out = b""
        while len(out) < count:
            # Without room for ancillary data the kernel closes descriptors that come along.
            part = self.socket.recv(count - len(out))
            if not part:
                raise EOFError
            out += part
        return out
