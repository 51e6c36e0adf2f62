"""Whether a document is an empty frame that scripts fill in a browser.

It says next to nothing, links to next to nothing, and has scripts; and one more sign is needed: an element in which
nothing stands, a `noscript` that asks for JavaScript, or no text at all. A short page of somebody's, with a script that
counts visitors, is none of these.
"""

from __future__ import annotations

import re

MOST_WORDS = 40
"""Number of words, stop words left out, from which on a page says something."""
MOST_LINKS = 5
LOOKED_AT = 1_000_000
"""Number of bytes of a document that are looked at."""
_SCRIPT = re.compile(rb"<script[\s>]", re.IGNORECASE)
_EMPTY = re.compile(rb"<(?:div|main|section|[a-z]{1,20}-[a-z-]{1,30})\s[^<>]{1,300}>\s{0,200}</", re.IGNORECASE)
_NOSCRIPT = re.compile(rb"<noscript[^<>]{0,200}>.{0,2000}?(?:javascript|java script)", re.IGNORECASE | re.DOTALL)


def may_be_scripted(*, words: int, links: int) -> bool:
    """What can be told without the document; most pages are none."""
    return words < MOST_WORDS and links < MOST_LINKS


def is_scripted(document: bytes, *, words: int, links: int) -> bool:
    """Whether a document, of which so many words and links were read, has to be rendered to say something."""
    document = document[:LOOKED_AT]
    if not may_be_scripted(words=words, links=links) or not _SCRIPT.search(document):
        return False
    return not words or bool(_EMPTY.search(document) or _NOSCRIPT.search(document))
