"""From the bytes of a document to a `Page`.

    bytes ─ charset ─▶ parser ─ walk ─▶ text with marks ─ own_text ─▶ links, terms, language, fingerprint

1. `charset` determines the encoding of the bytes; UTF-8 goes to the parser as it is.
2. `slow_documents` simplifies the rare document that would cost the parser quadratic time.
3. Lexbor parses it into a tree, as a browser would, however broken it is.
4. `walk` traverses the tree once: it collects the text in blocks, and marks where each link starts and ends. Where
   `_tree` was compiled, it parses and traverses in one go.
5. `own_text` leaves out the blocks that are furniture of the host. `furniture` counts, page by page, what these are;
   whoever reads many pages keeps such a table.
6. `links` turns marks into anchors and contexts, which are slices of the text, and hrefs into URLs.
7. `robots` reads the page's instructions for robots, `usage` what its owner says about its use; `language` and
   `fingerprint` analyse the own text; `language_model` is what guesses are made by, loaded once for all readers.
8. `declared` reads what the head says of other documents: a refresh, the next page, versions in other languages, feeds.

`link_lists` reads documents that are no pages but lists of links: feeds and sitemaps.

`pdf` turns PDF documents into HTML first. `scripted` tells a document that is empty until its scripts have run in a
browser, `parked` a page that stands on a domain nobody uses.

`html.read_document` combines these steps, within `limits`. Every input yields a Page; none raises an exception.

For export, when a page has long been fetched, there is a second way, from the same tree to a text that people read:

    parser ─ content ─▶ blocks in lists, tables, code … ─ main_text ─▶ those to keep ─ markdown ─▶ text, Markdown

`content` cuts the document into the same blocks as `walk`, by the rules in `tags`, so that what is known of a block
there holds here; `main_text` chooses among them by more cues than the crawl needs; `markdown` writes them, line by line
through `inline`, which makes sure that no text becomes structure. `metadata` reads what the document says of itself.
`clean.clean_document` combines these steps.
"""

from lycosa.page.fingerprint import simhash
from lycosa.page.html import read_document
from lycosa.page.limits import PageLimits
from lycosa.page.links import Resolve

__all__ = ["PageLimits", "Resolve", "read_document", "simhash"]
