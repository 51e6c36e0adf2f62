"""Domains that nobody uses: what a registrar or a dealer shows there, whatever page was asked for.

Such a page is short, says of a domain that it is parked or for sale, and names its own; or it says hardly anything
else. An article about the trade says more, and a shop for domains names those of others.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from lycosa.model import Page

PARKED = "parked domain"
"""Reason for which such a page is skipped."""
MOST_WORDS = 150
"""Number of words, without stop words, that such a page may have: many list what else one might look for."""
LONGEST = 5_000
"""Number of characters that are looked at."""
FEW_WORDS = 25
"""Number of words up to which it need not name itself."""

_OFFER = re.compile(
    r"""
    \bdomain(?:\ name)?\s+(?:\S+\s+){0,2}(?:is|may\ be|might\ be|could\ be)\s+(?:\S+\s+){0,2}(?:for\ sale|parked)\b
    | \b(?:buy|purchase|inquire\ about|make\ an\ offer\ on|interested\ in)\s+this\s+domain\b
    | \b(?:this|the)\s+domain(?:\ name)?\s+(?:is\s+)?(?:available\s+for\s+purchase|parked)\b
    | \bdomain\s+parking\b | \bparked\s+(?:free\b|domain\b|by\b)
    | \bdiese\s+domain\s+(?:\S+\s+){0,3}(?:zum\s+verkauf|zu\s+verkaufen|geparkt|kaufen)\b
    | \b(?:nom\s+de\s+)?domaine\s+(?:\S+\s+){0,3}(?:à\s+vendre|en\s+vente)\b
    | \bdominio\s+(?:\S+\s+){0,3}(?:en\s+venta|in\s+vendita|à\s+venda)\b
    | \bdomínio\s+(?:\S+\s+){0,3}à\s+venda\b
    | \bdomein(?:naam)?\s+(?:\S+\s+){0,3}te\s+koop\b
    | \bдомен\s+(?:\S+\s+){0,3}(?:прода[её]тся|припаркован)
    | 域名(?:可)?(?:出售|转让) | ドメイン(?:名)?(?:は)?(?:販売中|売り出し中)
    """,
    re.VERBOSE,
)
_HINTS = ("dom", "park", "домен", "域名", "ドメイン")
"""One of these is in every offer; to look for them takes a hundredth of the time."""


def offer_of_domain(page: Page, domain: Callable[[], str]) -> str:
    """What a page says of its domain, its registrable one, if that is parked; otherwise empty. `domain` is asked for it
    where it matters, which is hardly ever."""
    if page.words > MOST_WORDS:
        return ""
    text = f"{page.title} {page.text}"[:LONGEST].lower()
    found = _OFFER.search(text) if any(hint in text for hint in _HINTS) else None
    if found is None:
        return ""
    return found[0] if page.words <= FEW_WORDS or domain() in text else ""
