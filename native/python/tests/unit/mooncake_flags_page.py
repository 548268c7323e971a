# SPDX-License-Identifier: Apache-2.0
"""docs/reference/mooncake-flags.md, out of the tables of flags of the commands."""

import re
from pathlib import Path

from mooncake.launch.bench_flags import FLAGS as BENCH_FLAGS
from mooncake.launch.client_flags import FLAGS as CLIENT_FLAGS
from mooncake.launch.command_line import Treatment
from mooncake.launch.master_flags import FLAGS as MASTER_FLAGS

PAGE = Path(__file__).parents[4] / "docs/reference/mooncake-flags.md"
PAGE_HEAD = """# Flags of mooncake_master, mooncake_client and transfer_engine_bench

Generated from the tables of the wheel `kvpool-mooncake`; a test fails when this page is stale. How to use them:
[manifests of Mooncake](../guide/mooncake-manifests.md). A flag that is not here is refused.

"""

_TABLES = (
    ("mooncake_master", MASTER_FLAGS),
    ("mooncake_client", CLIENT_FLAGS),
    ("transfer_engine_bench", BENCH_FLAGS),
)


def page():
    text = [PAGE_HEAD]
    for program, flags in _TABLES:
        text.append(f"## {program}\n\n| flag | default | | |\n|---|---|---|---|\n")
        for flag in sorted(flags, key=lambda it: list(Treatment).index(it.treatment)):
            default = str(flag.default).lower() if flag.is_switch else str(flag.default)
            note = re.sub(r"\s+", " ", flag.note).replace("|", "\\|")
            text.append(
                f"| `--{flag.name}` | {f'`{default}`' if default else ''} | {flag.treatment.value} | {note} |\n"
            )
        text.append("\n")
    return "".join(text).rstrip() + "\n"


def write():
    PAGE.write_text(page())
