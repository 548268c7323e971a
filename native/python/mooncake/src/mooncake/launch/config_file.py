# SPDX-License-Identifier: Apache-2.0
"""The file that --config_path names: flags of the master, as JSON or as the flat YAML that the reference's examples are."""

import json


def parse(text: str) -> dict[str, str]:
    """Settings by name, values as a command line has them. Raises ValueError with the line that is wrong."""
    if text.lstrip().startswith("{"):
        return _of_json(text)
    settings: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        content = line.split(" #", 1)[0].strip()
        if not content or content.startswith(("#", "---")):
            continue
        name, colon, value = content.partition(":")
        if not colon or line[:1].isspace() or content.startswith("-"):
            raise ValueError(f"line {number} is {line.strip()!r}, but must be `name: value`, without nesting")
        _add(settings, name.strip(), value.strip().strip("\"'"))
    return settings


def _of_json(text: str) -> dict[str, str]:
    try:
        pairs = json.loads(text, object_pairs_hook=list)
    except ValueError as problem:
        raise ValueError(f"it is no JSON: {problem}") from None
    settings: dict[str, str] = {}
    for name, value in pairs:
        if isinstance(value, (list, dict)) or value is None:
            raise ValueError(f"{name} must be a text, a number, true or false")
        _add(settings, name, str(value).lower() if isinstance(value, bool) else str(value))
    return settings


def _add(settings: dict[str, str], name: str, value: str) -> None:
    if name in settings:
        raise ValueError(f"{name} stands there twice")
    settings[name] = value
