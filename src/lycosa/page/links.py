"""Turns the links that a walk has found into `Link` values: URLs, anchors, contexts.

The caller passes in a `Resolve`, which decides what is a URL, which URLs are accepted, and how they are spelt. It is
called once for each distinct href on a page, without its fragment.

A page's links to one URL are one `Link`, that of the first or, if that stands in furniture, of the first that does not;
it has the different texts of all of them.

The context of a link in the page's own text is made of own text only, that of a link in furniture of its block alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from itertools import repeat

from lycosa.model import Link
from lycosa.page.limits import PageLimits
from lycosa.page.own_text import OwnText
from lycosa.page.walk import Document

Resolve = Callable[[str], tuple[str, str]]
"""Turns an href into (URL, reason): (URL, "") if it is accepted, (URL, reason) if a rule rejects it, ("", reason) if it
is no URL to fetch. URLs are absolute and canonical."""

Glance = Callable[[str, list[str]], list[str | None] | None]
"""For a base and hrefs: the URLs of those that need no closer look, all accepted; None where a `Resolve` has to be
asked, or for all of them."""

SAME_PAGE = "same page"
TOO_LONG = "href too long"
TOO_MANY = "too many links"

_MAX_REL = 200
_NEW_LINK: Callable[[tuple[str, str, str, str, str, int, tuple[str, ...]]], Link] = partial(tuple.__new__, Link)
"""What `Link` does, without a call of a Python function."""


@dataclass(slots=True)
class ResolvedLinks:
    """The links of a page, in the form of `model.Page`."""

    links: list[Link] = field(default_factory=list)
    rejected: dict[str, str] = field(default_factory=dict)
    dropped: dict[str, int] = field(default_factory=dict)
    base: str = ""
    """The URL to which hrefs were joined."""


def resolve_links(
    document: Document,
    own: OwnText,
    *,
    url: str,
    resolver: Callable[[str], Resolve],
    limits: PageLimits,
    glance: Glance | None = None,
) -> ResolvedLinks:
    """Every link of a document: kept, rejected, or counted by the reason for which it was dropped.

    `glance` spares calls of what `resolver` returns.
    """
    base = _base_of(document, url, resolver, limits)
    result = ResolvedLinks(base=base)
    hrefs = document.hrefs
    if not hrefs:
        return result
    resolve, texts = resolver(base), _LinkTexts(document, own, limits)
    plain = glance(base, hrefs) if glance else None
    links, rejected, dropped = result.links, result.rejected, result.dropped
    known: dict[str, tuple[str, str]] = {"": (url, "")} if base == url else {}
    number_of: dict[str, int] = {}
    in_furniture: set[int] = set()
    anchors_of: dict[int, dict[str, None]] = {}
    for at, target in enumerate(plain or repeat(None, len(hrefs))):
        reason = ""
        if target is None:
            href = hrefs[at].partition("#")[0]
            answer = known.get(href)
            if answer is None:
                answer = resolve(href) if len(href) <= limits.max_href else ("", TOO_LONG)
                known[href] = answer
            target, reason = answer
        if target == url:
            target, reason = "", SAME_PAGE
        elif not reason:
            number = number_of.get(target)
            if number is not None:
                first, is_better = links[number], number in in_furniture and own.has(at)
                anchors = anchors_of.get(number)
                if anchors is None:
                    anchors = anchors_of[number] = {first.anchor: None}
                if len(anchors) < limits.max_anchors:
                    anchors[texts.anchor(at)] = None
                if is_better or not first.anchor or "nofollow" in first.rel:
                    again = texts.link(target, first.position, at)
                    links[number] = _merged(first, again, is_better=is_better)
                    if is_better and again.anchor:
                        in_furniture.remove(number)
                continue
            if len(links) < limits.max_links:
                number_of[target] = len(links)
                if not own.has(at):
                    in_furniture.add(len(links))
                links.append(texts.link(target, len(links), at))
                continue
            target, reason = "", TOO_MANY
        elif target and (target in rejected or len(rejected) < limits.max_links):
            rejected[target] = reason
            continue
        dropped[reason] = dropped.get(reason, 0) + 1
    for number, anchors in anchors_of.items():
        if len(anchors) > 1:
            others = tuple(anchor for anchor in anchors if anchor and anchor != links[number].anchor)
            links[number] = links[number]._replace(other_anchors=others)
    return result


class _LinkTexts:
    """The texts of a document's links: of all at once where that was compiled, otherwise one by one."""

    def __init__(self, document: Document, own: OwnText, limits: PageLimits) -> None:
        self._document = document
        self._own = own
        self._limits = limits
        self._texts = own.link_texts(limits.max_anchor, limits.context_reach)
        """Anchors and contexts."""

    def link(self, target: str, position: int, at: int) -> Link:
        rel = self._document.rels[at]
        if rel:
            rel = " ".join(rel[:_MAX_REL].lower().split())
        return _NEW_LINK((target, self.anchor(at), self._context(at), self._document.paths[at], rel, position, ()))

    def anchor(self, at: int) -> str:
        anchor = self._texts[0][at] if self._texts is not None else self._slice(at)[0]
        if not anchor and at in self._document.labels:
            # Cut before collapsing white space: an attribute can be megabytes long.
            most = self._limits.max_anchor
            anchor = " ".join(self._document.labels[at][: 2 * most].split())[:most]
        return anchor

    def _context(self, at: int) -> str:
        if self._texts is not None:
            return self._texts[1][at]
        return _context(*self._own.around(at, self._slice(at)[1]), self._limits.context_reach)

    def _slice(self, at: int) -> tuple[str, int]:
        """The text of a link, and where it ends in the document's."""
        start = self._document.starts[at]
        end = min(self._document.ends[at], start + self._limits.max_anchor)
        return self._document.text[start:end].rstrip(), end


def _base_of(document: Document, url: str, resolver: Callable[[str], Resolve], limits: PageLimits) -> str:
    # A base may be a URL that rules reject, since it is not fetched. Only http and https resolve.
    if document.base and len(document.base) <= limits.max_href:
        return resolver(url)(document.base.partition("#")[0])[0] or url
    return url


def _merged(first: Link, again: Link, *, is_better: bool) -> Link:
    """A link that is repeated on the page: the repetition may supply an anchor, or lift a nofollow.

    `is_better`: the first is furniture and the repetition is not, so words and place are those of the latter.
    """
    if again.anchor and is_better:
        first = first._replace(anchor=again.anchor, context=again.context, path=again.path)
    elif again.anchor and not first.anchor:
        first = first._replace(anchor=again.anchor, context=again.context)
    if "nofollow" in first.rel and "nofollow" not in again.rel:
        # It is enough if one of the two vouches for the target.
        first = first._replace(rel=again.rel)
    return first


def _context(text: str, start: int, end: int, reach: int) -> str:
    begin, stop = max(0, start - reach), end + reach
    if begin and (cut := text.find(" ", begin - 1, start)) >= 0:
        begin = cut + 1
    if stop < len(text) and (cut := text.rfind(" ", end, stop + 1)) >= 0:
        stop = cut
    return text[begin:stop].strip()
