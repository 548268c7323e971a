# SPDX-License-Identifier: Apache-2.0
"""What stands for Huawei's CANN in tests: the libraries of native/test/ascend/fake, in FAKE_CANN_DIRECTORY."""

import os
from pathlib import Path


def variables(ledger: Path | None = None) -> dict[str, str]:
    """Of a process with CANN, in which remote memory of hosts can be reached.

    The ledger is a file to which each call of CANN appends a line: PID TID FUNCTION STATUS TEXT.
    """
    written = {} if ledger is None else {"FAKE_ASCEND_LEDGER": str(ledger)}
    folder = os.environ["FAKE_CANN_DIRECTORY"] + "/cann"
    return {"KVPOOL_ASCEND_LIBRARY_DIR": folder, "HCCL_INTRA_ROCE_ENABLE": "1", **written}
