# SPDX-License-Identifier: Apache-2.0
"""kvpool_engines.request_hint: what a request may say about its objects."""

from typing import Any

import pytest

from kvpool_engines.request_hint import RequestHint, read_hint


@pytest.mark.parametrize(
    ("said", "expected"),
    [({"retain": "10m"}, 600.0), ({"retain": "30m"}, 900.0), ({"retain": "500ms"}, 0.5), ({"release": True}, 0.0)],
)
def test_a_request_retains_no_longer_than_it_may(said: dict, expected: float) -> None:
    assert read_hint(said, at_most=900.0) == RequestHint(expected)


@pytest.mark.parametrize(
    "said",
    [
        None,
        "10m",
        [],
        {},
        {"retain": "0s"},
        {"retain": 600},
        {"retain": "1m", "release": True},
        {"release": 1},
        {"x": 1},
    ],
)
def test_what_is_no_hint_is_refused(said: Any) -> None:
    with pytest.raises(ValueError, match="write"):
        read_hint(said, at_most=900.0)
