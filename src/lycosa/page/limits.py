from __future__ import annotations

from dataclasses import dataclass

from lycosa.errors import ConfigError
from lycosa.lib.bounds import require_at_least
from lycosa.lib.languages import STEMMERS


@dataclass(frozen=True, slots=True)
class PageLimits:
    """How a document is read, and limits on what is kept of it."""

    language: str = "auto"
    """Language whose stop words and stemmer words are reduced by: auto (each page's own), or an ISO 639-1 code for all
    pages, such as de. Words are kept as English ones where Snowball has no stemmer."""
    only_languages: tuple[str, ...] = ()
    """Languages of the pages that are kept, as ISO 639-1 codes; if empty, any. A page in another language is refused,
    and its links are not followed; one with too little text to tell is kept."""
    feeds: bool = False
    """Follow the feeds that pages name in their head. Feeds that are linked to like pages are read in any case."""
    pdf: bool = False
    """Fetch and read PDF documents. Needs lycosa[pdf]."""
    max_text: int = 200_000
    """Maximum number of characters of text; the rest is neither kept nor counted, except for its links."""
    max_title: int = 300
    """Maximum number of characters of the title."""
    max_links: int = 10_000
    """Maximum number of distinct URLs kept, and of URLs rejected; any others are only counted."""
    max_href: int = 4_096
    """Maximum length of an href; longer ones are not resolved."""
    max_anchor: int = 200
    """Maximum length of the text of a link."""
    max_anchors: int = 8
    """Maximum number of different texts kept of the links to one URL."""
    context_reach: int = 80
    """Maximum number of characters of context on either side of a link, cut at words: about 12 English words."""
    path_depth: int = 32
    """Maximum number of tags in the path of a link; of a longer path, an ellipsis and the innermost tags are kept."""

    def __post_init__(self) -> None:
        if self.language != "auto" and self.language not in STEMMERS:
            raise ConfigError(f"page.language is {self.language!r}: it must be auto or one of {', '.join(STEMMERS)}")
        for code in self.only_languages:
            if not (len(code) == 2 and code.isascii() and code.isalpha() and code.islower()):
                raise ConfigError(f"page.only_languages has {code!r}: write ISO 639-1 codes, such as 'en' or 'de'")
        require_at_least(self, "page", max_text=0, max_title=0, max_links=0, max_href=1, max_anchor=0, max_anchors=1)
        require_at_least(self, "page", context_reach=0, path_depth=2)
