# SPDX-License-Identifier: Apache-2.0
"""The types beside mooncake.engine.TransferEngine."""

import enum
from dataclasses import dataclass

from kvpool import TransferEngine


class TransferOpcode(enum.IntEnum):
    Read = 0
    Write = 1


@dataclass
class TransferNotify:
    """Something one application tells another with a transfer: name of at most 253 bytes, msg of at most 4096."""

    name: str = ""
    msg: str = ""


class InnerTransferEngine:
    """What get_engine() returns, for MooncakeDistributedStore.setup(engine=...)."""

    def __init__(self, engine: TransferEngine) -> None:
        self.engine = engine  # open for as long as a store that was given it is set up


def inner_engine(given: object) -> TransferEngine | None:
    """The engine of setup()'s argument, None for none. ValueError for what is none of ours."""
    if given is None:
        return None
    if isinstance(given, InnerTransferEngine):
        return given.engine
    raise ValueError(
        f"is of type {type(given).__name__}, but must be what get_engine() of a mooncake.engine.TransferEngine returns"
    )
