# SPDX-License-Identifier: Apache-2.0
import random

from kvchaos.windows import FOREVER, EarliestEnd, Windows


def test_windows_touch_at_their_ends() -> None:
    windows = Windows([(5, 7)])
    assert [windows.touch(*span) for span in ((0, 4), (0, 5), (6, 6), (7, 9), (8, 9))] == [
        False,
        True,
        True,
        True,
        False,
    ]


def test_an_open_window_lasts() -> None:
    windows = Windows()
    place = windows.open(3)
    assert windows.touch(1 << 50, 1 << 51)
    windows.close(place, 4)
    assert not windows.touch(5, 6)


def test_the_earliest_end_is_that_of_a_search_by_hand() -> None:
    draws = random.Random(7)
    for _ in range(200):
        spans = []
        for _ in range(draws.randrange(12)):
            start = draws.randrange(20)
            spans.append((start, start + draws.randrange(10), draws.choice("abc")))
        for time in range(22):
            for without in (None, "a", "z"):
                fitting = [end for start, end, kind in spans if start >= time and kind != without]
                assert EarliestEnd(spans).after(time, without) == min(fitting, default=FOREVER)
