# SPDX-License-Identifier: Apache-2.0
"""What the proxy counts, in Prometheus' text format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kvpool_engines.proxy.instances.instance import Instance

_BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)


class Metrics:
    """Counts of requests. Those of instances are read from the instances."""

    def __init__(self) -> None:
        self.running = 0
        self.requests: dict[tuple[str, int], int] = {}
        self.retries: dict[str, int] = {"prefill": 0, "decode": 0}
        self.clients_gone = 0
        self.streams_cut = 0
        self.recomputed = 0
        self._buckets = [0] * len(_BOUNDS)
        self._sum = 0.0
        self._count = 0

    def ended(self, path: str, status: int) -> None:
        self.requests[path, status] = self.requests.get((path, status), 0) + 1

    def first_byte(self, seconds: float) -> None:
        self._sum += seconds
        self._count += 1
        for place, bound in enumerate(_BOUNDS):
            self._buckets[place] += seconds <= bound

    def text(self, instances: Iterable[Instance], computed_twice: int, source_failures: int) -> str:
        return "".join(f"{line}\n" for line in self._lines(list(instances), computed_twice, source_failures))

    def _lines(self, instances: list[Instance], computed_twice: int, source_failures: int) -> Iterator[str]:
        yield from _head("requests_total", "counter", "Requests for completions that ended, by status.")
        for (path, status), count in sorted(self.requests.items()):
            yield _line("requests_total", count, path=path, status=status)
        yield from _head(
            "retries_total", "counter", "Attempts that failed before the first byte, by the role that failed."
        )
        for role, count in self.retries.items():
            yield _line("retries_total", count, role=role)
        for name, kind, text, value in (
            ("running_requests", "gauge", "Requests for completions under way.", self.running),
            ("clients_gone_total", "counter", "Clients that left before their answer ended.", self.clients_gone),
            (
                "streams_cut_total",
                "counter",
                "Streams that a decode instance broke off after the first byte.",
                self.streams_cut,
            ),
            (
                "recomputed_total",
                "counter",
                "Answers that a decode instance ended to have the request computed again.",
                self.recomputed,
            ),
            (
                "computed_twice_total",
                "counter",
                "Prompts whose blocks the prefill instance did not hand over.",
                computed_twice,
            ),
            ("source_failures_total", "counter", "Pods could not be listed.", source_failures),
        ):
            yield from _head(name, kind, text)
            yield _line(name, value)
        yield from _head(
            "first_byte_seconds", "histogram", "From a request to the first byte of its answer, retries included."
        )
        for bound, count in zip(_BOUNDS, self._buckets, strict=True):
            yield _line("first_byte_seconds_bucket", count, le=bound)
        yield _line("first_byte_seconds_bucket", self._count, le="+Inf")
        yield _line("first_byte_seconds_sum", self._sum)
        yield _line("first_byte_seconds_count", self._count)
        for name, kind, text, value_of in (
            ("instance_ready", "gauge", "1: it gets requests.", lambda one: int(one.ready)),
            (
                "instance_running_requests",
                "gauge",
                "Its requests; of prefill those not handed over.",
                lambda one: one.running,
            ),
            (
                "instance_computing_tokens",
                "gauge",
                "Tokens, estimated, of requests it has not answered.",
                lambda one: one.computing,
            ),
            (
                "instance_held_tokens",
                "gauge",
                "Tokens, estimated, of blocks that wait to be handed over.",
                lambda one: one.held,
            ),
            (
                "instance_done_total",
                "counter",
                "Requests that ended well; of prefill once handed over.",
                lambda one: one.done,
            ),
            ("instance_failed_total", "counter", "Requests that failed there.", lambda one: one.failed),
        ):
            yield from _head(name, kind, text)
            for instance in instances:
                labels = {"role": instance.description.role.value, "url": instance.url}
                yield _line(name, value_of(instance), **labels)


def _head(name: str, kind: str, text: str) -> tuple[str, str]:
    return f"# HELP kvpool_proxy_{name} {text}", f"# TYPE kvpool_proxy_{name} {kind}"


def _line(name: str, value: float, **labels: object) -> str:
    # Labels hold URLs that were checked, paths of ours and numbers: nothing to escape.
    inner = ",".join(f'{label}="{content}"' for label, content in labels.items())
    return f"kvpool_proxy_{name}{{{inner}}} {value}" if inner else f"kvpool_proxy_{name} {value}"
