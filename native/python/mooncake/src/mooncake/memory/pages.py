# SPDX-License-Identifier: Apache-2.0
"""Memory of whole pages, straight from the kernel."""

import ctypes
import mmap


def zeroed_pages(size: int) -> "ctypes.Array[ctypes.c_char]":
    """`size` zeroed bytes that begin at a page and live as long as the array; child processes share them, and each page is made
    when it is touched. OSError, ValueError or OverflowError when they cannot be had."""
    return (ctypes.c_char * size).from_buffer(mmap.mmap(-1, size))
