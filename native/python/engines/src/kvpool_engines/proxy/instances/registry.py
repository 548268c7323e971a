# SPDX-License-Identifier: Apache-2.0
"""All instances: who is added and removed, and who gets the next request."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator

from kvpool_engines.proxy.instances.description import INSTANCES_MAX, Description, Role, WrongInstances
from kvpool_engines.proxy.instances.instance import Claim, Instance
from kvpool_engines.proxy.refusal import Refusal


class Registry:
    """Instances by role and URL. A removed one stays until its last request has ended."""

    def __init__(self, added: Callable[[Instance], None], gone: Callable[[Instance], None]) -> None:
        self._added, self._gone = added, gone
        self._instances: dict[tuple[Role, str], Instance] = {}
        self._turns = itertools.count()
        self._last_turn: dict[Instance, int] = {}

    def __iter__(self) -> Iterator[Instance]:
        return iter(list(self._instances.values()))

    def of(self, role: Role) -> list[Instance]:
        return [instance for instance in self if instance.description.role is role]

    def add(self, source: str, description: Description) -> Instance:
        """Adds an instance, or says that this source lists it too."""
        key = (description.role, description.url)
        instance = self._instances.get(key)
        if instance is None:
            self._expect_room(1)
            instance = self._instances[key] = Instance(description)
            self._added(instance)
        instance.description = description
        instance.sources.add(source)
        return instance

    def add_all(self, source: str, descriptions: Iterable[Description]) -> None:
        """Adds all of them, or none."""
        listed = {(one.role, one.url): one for one in descriptions}
        self._expect_room(len(listed.keys() - self._instances.keys()))
        for description in listed.values():
            self.add(source, description)

    def remove(self, source: str, instance: Instance) -> None:
        """This source lists it no more. Without any source it gets no further request."""
        instance.sources.discard(source)
        self.forget_drained()

    def replace(self, source: str, descriptions: Iterable[Description]) -> None:
        """What a source lists now, in the place of what it listed before, wholly or not at all."""
        listed = {(one.role, one.url): one for one in descriptions}
        others = [instance for key, instance in self._instances.items() if key not in listed]
        gone = sum(instance.sources == {source} and instance.running == 0 for instance in others)
        self._expect_room(len(listed.keys() - self._instances.keys()) - gone)
        for instance in others:
            self.remove(source, instance)
        for description in listed.values():
            self.add(source, description)

    def _expect_room(self, more: int) -> None:
        if more > 0 and len(self._instances) + more > INSTANCES_MAX:
            raise WrongInstances(
                f"there are {len(self._instances)} instances already, and may be {INSTANCES_MAX}:"
                " remove some, or start another proxy"
            )

    def claim(self, role: Role, tokens: int, avoid: Collection[Instance]) -> Claim:
        """The instance with the least to do, of those to avoid only when there is no other."""
        ready = [instance for instance in self.of(role) if instance.ready]
        ready = [instance for instance in ready if instance not in avoid] or ready
        if not ready:
            raise Refusal(503, self._nothing_ready(role))
        chosen = min(ready, key=lambda one: (one.load, one.running, self._last_turn.get(one, -1)))
        self._last_turn[chosen] = next(self._turns)
        return Claim(chosen, tokens)

    def forget_drained(self) -> None:
        """Called whenever a request ended."""
        for key, instance in list(self._instances.items()):
            if instance.draining and instance.running == 0:
                del self._instances[key]
                self._last_turn.pop(instance, None)
                self._gone(instance)

    def problem(self) -> str | None:
        """Why no request can be served now."""
        for role in Role:
            if not any(instance.ready for instance in self.of(role)):
                return self._nothing_ready(role)
        return None

    def _nothing_ready(self, role: Role) -> str:
        here = self.of(role)
        if not here:
            return (
                f"there is no {role.value} instance: add one by POST /instances on the admin port, the file of "
                f"--instances, or label kvpool.dev/pd-role={role.value} of its pod"
            )
        reasons = "; ".join(
            f"{one.url} {'is being removed' if one.draining else f'is not healthy ({one.problem})'}" for one in here[:5]
        )
        more = f"; and {len(here) - 5} more" if len(here) > 5 else ""
        return f"no {role.value} instance is ready: {reasons}{more}. Look at these engines; GET /instances shows all"
