# SPDX-License-Identifier: Apache-2.0
"""One engine's process: makes the connector as its command line and environment say, and does what the test asks.

Standard input is a request as JSON: the module here that knows the engine, the command line, and steps, each the name of a
method and its arguments. What they return goes to the file that the request names; logs are left to the engine.

Every engine has the same three: save(prompt, blocks) stores the first blocks of a prompt, lookup(prompt, blocks) says how many of
the prompt's first blocks there are, and load(prompt, blocks) fetches these into memory, checks all of the memory byte for
byte, and says of each whether it is there. remove_all() is somebody else's.
"""

import importlib
import json
import os
import sys
from pathlib import Path


def remove_all() -> None:
    """As another client of the pool: everything is gone, in use or not."""
    from mooncake.store import MooncakeDistributedStore

    store = MooncakeDistributedStore()
    code = store.setup("localhost", "P2PHANDSHAKE", 0, 16 << 20, "tcp", "", os.environ["MOONCAKE_MASTER"])
    assert code == 0 and store.remove_all(force=True) >= 0
    store.close()


def main() -> None:
    request = json.load(sys.stdin)
    engine = importlib.import_module(request["engine"]).start(request["arguments"])
    answers = [
        remove_all() if step == "remove_all" else getattr(engine, step)(**arguments)
        for step, arguments in request["steps"]
    ]
    engine.close()
    Path(request["answers"]).write_text(json.dumps(answers), encoding="utf-8")


if __name__ == "__main__":
    main()
