"""The registrable domain of a host: what its owner pays for, and below which it can invent names without end."""

from __future__ import annotations

from functools import cache

from publicsuffixlist import PublicSuffixList


@cache
def _suffixes() -> PublicSuffixList:
    """The public suffix list, as it came with the package: parsed once, when it is first needed."""
    return PublicSuffixList(only_icann=False)


def registrable_domain(host: str) -> str:
    """`example.co.uk` for `a.b.example.co.uk:8080`; an address, or a name without a domain, stands for itself."""
    name = host if host.startswith("[") else host.partition(":")[0]
    if name.startswith("[") or name.replace(".", "").isdigit():
        return name
    return _suffixes().privatesuffix(name) or name
