# SPDX-License-Identifier: Apache-2.0
"""What certificates of others stand for, by the file beside the directory of certificates: those that name the ServiceAccount
of a pod, `spiffe://TRUST-DOMAIN/ns/NAMESPACE/sa/ACCOUNT`. The library reads the same file, and says what is wrong with it;
native/schema/foreign-names.txt has what all languages make of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

_BYTES_MAX = 1 << 20
_LINES_MAX = 10_000
_LABEL = r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?"
_ACCOUNT = re.compile(rf"{_LABEL}/(?:\*|(?=[^/]{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*)", re.ASCII)
_POOL = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)
_NO_POOL = "00000000-0000-0000-0000-000000000000"
_TRUST_DOMAIN = re.compile(r"[-a-z0-9._]{1,255}", re.ASCII)
_TENANT = re.compile(rf"tenant {_LABEL} r[wo]", re.ASCII)
_PARTS = {"master", "node", "none"}


@dataclass(frozen=True)
class ForeignNames:
    """The pool, the trust domain, and what each account is: `master`, `node`, `tenant TENANT rw`, or `none`. Empty where there
    is no such file."""

    pool: str = ""
    trust_domain: str = ""
    accounts: dict[str, str] = field(default_factory=dict)

    def part(self, uri: str) -> str | None:
        """What a certificate with this URI is; None where it is none of others, or has no part in the pool."""
        prefix = f"spiffe://{self.trust_domain}/ns/"
        account = uri.removeprefix(prefix).replace("/sa/", "/", 1)
        if not self.trust_domain or not uri.startswith(prefix) or uri != prefix + account.replace("/", "/sa/", 1):
            return None
        if _ACCOUNT.fullmatch(account) is None or account.endswith("*"):
            return None
        part = self.accounts.get(account) or self.accounts.get(account.partition("/")[0] + "/*")
        return None if part == "none" else part


def parse(text: str) -> ForeignNames:
    """Raises ValueError with the number of the line that is wrong."""
    heads: dict[str, str] = {}
    accounts: dict[str, str] = {}
    lines = text.removesuffix("\n").split("\n")
    if len(lines) > _LINES_MAX:
        raise ValueError(f"it has {len(lines)} lines; at most {_LINES_MAX}")
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        first, rest = words[0], " ".join(words[1:])
        if first in ("pool", "trust-domain"):
            fits = _is_head(first, rest) and first not in heads
            heads[first] = rest
        else:
            is_any = first.endswith("/*")
            fits = _ACCOUNT.fullmatch(first) is not None and (
                _TENANT.fullmatch(rest) is not None or (rest in _PARTS and not is_any)
            )
            fits = fits and accounts.setdefault(first, rest) == rest
        if not fits:
            raise ValueError(f"line {number} is none of names of others")
    if len(heads) != 2:
        raise ValueError("it lacks the line 'pool ID' or 'trust-domain NAME'")
    return ForeignNames(heads["pool"], heads["trust-domain"], accounts)


def _is_head(first: str, word: str) -> bool:
    is_pool = _POOL.fullmatch(word) is not None and word != _NO_POOL
    return is_pool if first == "pool" else _TRUST_DOMAIN.fullmatch(word) is not None and not is_pool


def beside(directory: str | Path) -> ForeignNames:
    """Those of a directory of certificates. Raises OSError and ValueError where there is a file that cannot be used."""
    path = Path(str(directory).rstrip("/") + ".names") / "names"
    try:
        with path.open("rb") as file:
            content = file.read(_BYTES_MAX + 1)
    except FileNotFoundError:
        return ForeignNames()
    if len(content) > _BYTES_MAX:
        raise ValueError(f"{path} has more than {_BYTES_MAX >> 10} KiB; is it what it should be?")
    return parse(content.decode("ascii", "replace"))
