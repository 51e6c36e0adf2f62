"""What a person looks for in a crawl: words, "phrases", and -words that must not be there.

Every word is quoted, so that nothing a person types is an operator of FTS5, whatever characters it has. Words are
letters, digits and marks; a token of other characters alone says nothing, and is left out.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from lycosa.errors import InputError

MAX_TERMS = 32
MAX_LENGTH = 1_000
_TERM = re.compile(r'(-?)(?:"([^"]*)"?|([^\s"]+))')
_WORD = re.compile(r"[^\W_]")


class SearchQuery(NamedTuple):
    wanted: tuple[str, ...]
    """Words and phrases."""
    unwanted: tuple[str, ...] = ()

    @classmethod
    def parse(cls, text: str) -> SearchQuery:
        """InputError if nothing is looked for."""
        if len(text) > MAX_LENGTH:
            raise InputError(f"the query has {len(text):,} characters; at most {MAX_LENGTH:,} are looked for")
        cleaned = "".join(char if char.isprintable() else " " for char in text)
        wanted: dict[str, None] = {}
        unwanted: dict[str, None] = {}
        for minus, phrase, word in _TERM.findall(cleaned):
            term = (phrase or word).strip()
            if _WORD.search(term):
                (unwanted if minus else wanted)[term] = None
        if not wanted:
            hint = "; words with a minus only say what pages must not have" if unwanted else ""
            raise InputError(f'there is no word to look for in {text!r}: write words, "phrases", -without{hint}')
        if len(wanted) + len(unwanted) > MAX_TERMS:
            raise InputError(f"the query has {len(wanted) + len(unwanted)} words; at most {MAX_TERMS} are looked for")
        return cls(tuple(wanted), tuple(unwanted))

    def terms(self) -> list[str]:
        """FTS5: pages with each of the words."""
        return [_quoted(term) for term in self.wanted]

    def all_words(self) -> str:
        """FTS5: pages with all words."""
        return self._without(" AND ".join(map(_quoted, self.wanted)))

    def any_word(self) -> str:
        """FTS5: pages with some of them."""
        return self._without(" OR ".join(map(_quoted, self.wanted)))

    def _without(self, wanted: str) -> str:
        if not self.unwanted:
            return wanted
        return f"({wanted}) NOT ({' OR '.join(map(_quoted, self.unwanted))})"


def _quoted(term: str) -> str:
    return '"' + term.replace('"', '""') + '"'
