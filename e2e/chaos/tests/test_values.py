# SPDX-License-Identifier: Apache-2.0
import pytest
from kvchaos.values import FOREIGN, HEADER_BYTES, Mark, identity, make

MARK = Mark(3, 99)


@pytest.mark.parametrize("size", [HEADER_BYTES, HEADER_BYTES + 1, 4096, 1 << 20])
def test_a_value_names_its_put(size: int) -> None:
    value = make("key", MARK, size)
    assert len(value) == size
    assert identity("key", value) == "3.99"


@pytest.mark.parametrize("size", [0, 1, HEADER_BYTES - 1])
def test_a_short_value_is_told_by_its_bytes(size: int) -> None:
    assert identity("key", make("key", MARK, size)) == "=" + make("key", MARK, size).hex()


def test_what_is_not_exactly_the_value_is_foreign() -> None:
    value = make("key", MARK, 4096)
    other = make("key", Mark(3, 100), 4096)
    flipped = value[:2000] + bytes([value[2000] ^ 1]) + value[2001:]
    moved = value[:HEADER_BYTES] + value[HEADER_BYTES + 64 :] + value[HEADER_BYTES : HEADER_BYTES + 64]
    wrong = [flipped, moved, value[:2048] + other[2048:], value[:-1], value + b"\0", bytes(4096)]
    assert {identity("key", it) for it in wrong} == {FOREIGN}
    assert identity("other key", value) == FOREIGN
