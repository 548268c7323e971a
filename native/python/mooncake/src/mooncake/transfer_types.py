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
        self._engine = engine  # alive as long as the store that was given it
