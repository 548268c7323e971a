# SPDX-License-Identifier: Apache-2.0
"""Sizes of memory as engines and their users write them."""

import re
from decimal import Decimal

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*(?:([kmgt])i?b?|b)?", re.IGNORECASE | re.ASCII)


def parse_size(value: object) -> int:
    """Bytes of an int or of "64MB", "64 MiB", "1.5g": as in Mooncake, MB and MiB are both 1024 * 1024 here."""
    if isinstance(value, int) and not isinstance(value, bool):
        if value < 0:
            raise ValueError(f"is {value}, but a size is 0 or more")
        return value
    match = _SIZE.fullmatch(str(value).strip())
    if match is None:
        raise ValueError(f'is {value!r}, but must be bytes or a size such as "64MB" or "4GB"')
    return int(Decimal(match[1]) * _UNITS[(match[2] or "").lower()])
