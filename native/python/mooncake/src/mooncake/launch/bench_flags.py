# SPDX-License-Identifier: Apache-2.0
"""The flags of `transfer_engine_bench`, names as in the reference (its transfer_engine_bench.cpp), and what becomes of each.

Defaults are the reference's but for those that name machines of its own and transports that are not here.
"""

from collections.abc import Callable

from mooncake.launch.command_line import Flag, Treatment, switch, whole_number, word

_SUPPORTED, _IGNORED = Treatment.SUPPORTED, Treatment.IGNORED

# Bytes of each unit that --report_unit takes; units of bits end in "b".
UNITS = {
    **{"GB": 1e9, "GiB": float(1 << 30), "Gb": 1e9 / 8},
    **{"MB": 1e6, "MiB": float(1 << 20), "Mb": 1e6 / 8},
    **{"KB": 1e3, "KiB": float(1 << 10), "Kb": 1e3 / 8},
}


def one_of(*words: str) -> Callable[[str], str]:
    def kind(text: str) -> str:
        if text not in words:
            raise ValueError(f"must be one of {', '.join(words)}")
        return text

    return kind


def count(text: str) -> int:
    number = whole_number(text)
    if number == 0:
        raise ValueError("must be 1 or more")
    return number


FLAGS = (
    Flag("mode", one_of("initiator", "target"), "initiator", _SUPPORTED, "initiator: transfers; target: lends memory."),
    Flag("operation", one_of("read", "write"), "read", _SUPPORTED, "What the initiator does with the target's memory."),
    Flag("segment_id", word, "", _SUPPORTED, "The target, as it says itself: HOST:PORT, or its name. Initiator only."),
    Flag(
        "local_server_name", word, "127.0.0.1", _SUPPORTED, "The host by which others reach this process, or its name."
    ),
    Flag("metadata_server", word, "P2PHANDSHAKE", _SUPPORTED, "P2PHANDSHAKE, or the URL of a metadata server of HTTP."),
    Flag("protocol", word, "tcp", _SUPPORTED, "As for initialize() of mooncake.engine: tcp, ascend."),
    Flag("device_name", word, "", _IGNORED, "tcp takes the machine's routes"),
    Flag("buffer_size", count, 1 << 30, _SUPPORTED, "Bytes of memory, here and at the target."),
    Flag("block_size", count, 64 << 10, _SUPPORTED, "Bytes of each transfer."),
    Flag("batch_size", count, 128, _SUPPORTED, "Transfers of a batch."),
    Flag(
        "threads", count, 12, _SUPPORTED, "Threads that transfer one batch after the other, each in memory of its own."
    ),
    Flag("duration", count, 10, _SUPPORTED, "Seconds."),
    Flag("report_unit", one_of(*UNITS), "GB", _SUPPORTED, f"One of {', '.join(UNITS)}; each a second."),
    Flag("report_precision", whole_number, 2, _SUPPORTED, "Digits behind the point, 9 at most."),
    Flag("auto_discovery", switch, False, _IGNORED, "tcp takes the machine's routes"),
    Flag("nic_priority_matrix", word, "", _IGNORED, "tcp takes the machine's routes"),
    Flag("backend", one_of("classic", "tent"), "classic", _IGNORED, "there is one transfer engine"),
)
