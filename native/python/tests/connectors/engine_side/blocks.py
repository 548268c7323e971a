# SPDX-License-Identifier: Apache-2.0
"""What a block of a prompt holds: bytes that follow from the prompt's number and the block's, so that any process knows them."""

import numpy

UNTOUCHED = 0xA5


def block_bytes(prompt: int, block: int, size: int) -> numpy.ndarray:
    return numpy.random.default_rng([prompt, block]).integers(0, 256, size, dtype=numpy.uint8)


def tokens_of(prompt: int, count: int) -> list[int]:
    """Two prompts have no block in common."""
    return [prompt * 1_000_000 + position for position in range(count)]
