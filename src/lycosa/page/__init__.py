"""From the bytes of a document to a `Page`.

    bytes ─ charset ─▶ parser ─ walk ─▶ text with marks ─ own_text ─▶ links, terms, language, fingerprint

1. `charset` determines the encoding of the bytes; UTF-8 goes to the parser as it is.
2. `slow_documents` simplifies the rare document that would cost the parser quadratic time.
3. Lexbor parses it into a tree, as a browser would, however broken it is.
4. `walk` traverses the tree once: it collects the text in blocks, and marks where each link starts and ends. Where
   `_scan` was compiled, it does that in a third of the time.
5. `own_text` leaves out the blocks that are furniture of the host. `furniture` counts, page by page, what these are;
   whoever reads many pages keeps such a table.
6. `links` turns marks into anchors and contexts, which are slices of the text, and hrefs into URLs.
7. `robots` reads the page's instructions for robots; `language` and `fingerprint` analyse the own text.

`html.read_document` combines these steps, within `limits`. Every input yields a Page; none raises an exception.
"""

from lycosa.page.fingerprint import simhash
from lycosa.page.html import read_document
from lycosa.page.limits import PageLimits
from lycosa.page.links import Resolve

__all__ = ["PageLimits", "Resolve", "read_document", "simhash"]
