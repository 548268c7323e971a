# SPDX-License-Identifier: Apache-2.0
"""What the wheel says of the library that is in it."""

import importlib.metadata
import json

import kvpool


def test_the_wheel_and_the_library_name_the_openssl_that_is_linked_in() -> None:
    in_wheel = importlib.metadata.distribution("kvpool").read_text("sboms/libkvpool.cdx.json")
    assert in_wheel == kvpool.sbom()
    components = {one["name"]: one for one in json.loads(in_wheel)["components"]}
    assert components["OpenSSL"]["version"]
    assert components["OpenSSL"]["licenses"] == [{"expression": "Apache-2.0"}]
