# SPDX-License-Identifier: Apache-2.0
"""Modules of ours in the place of an engine's, put there before its connector is imported.

What is not listed in engines.toml is not on the path, so an import that neither has fails: nothing is replaced unseen.
"""

import sys
from pathlib import Path
from types import ModuleType


def stand_in(name: str, **attributes: object) -> ModuleType:
    """A module with these attributes. Modules of the engine's own below it are still found where they were unpacked."""
    module = ModuleType(name)
    module.__path__ = [str(folder) for entry in sys.path if (folder := Path(entry or ".", *name.split("."))).is_dir()]
    vars(module).update(attributes)
    sys.modules[name] = module
    parent, _, child = name.rpartition(".")
    if parent in sys.modules:
        setattr(sys.modules[parent], child, module)
    return module


class _Unused(type):
    """A class that is only named, in annotations and isinstance()."""

    def __call__(cls, *arguments: object, **named: object) -> object:
        raise NotImplementedError(f"{cls.__name__} is a name without a body in these tests")


def unused(*names: str) -> dict[str, type]:
    """Names of classes that the connector imports and does not make."""
    return {name: _Unused(name, (), {}) for name in names}
