"""From the bytes of a document to a `Page`.

    bytes ─ charset ─▶ parser ─ walk ─▶ text with marks ─▶ links, terms, language, fingerprint

1. `charset` says how the bytes are to be read; UTF-8 goes to the parser as it is.
2. `slow_documents` simplifies the rare document that would cost the parser quadratic time.
3. Lexbor makes a tree of it, as a browser would, however broken it is.
4. `walk` goes through the tree once: it collects the text, and marks where each link begins and ends.
5. `links` turns marks into anchors and contexts, which are then slices of the text, and hrefs into URLs.
6. `robots` reads what the page asks of robots; `language` and `fingerprint` look at the text.

`html.read_document` ties it together, within `limits`. Every input gives a Page; none gives an exception.
"""

from lycosa.page.fingerprint import hamming, simhash
from lycosa.page.html import read_document, read_html, read_text
from lycosa.page.limits import PageLimits
from lycosa.page.links import Resolve

__all__ = ["PageLimits", "Resolve", "hamming", "read_document", "read_html", "read_text", "simhash"]
