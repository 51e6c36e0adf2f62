"""The results of a crawl, for people and for other tools.

archived_pages   pages read again from the archive
deciding_words   the words that decided on a page, where they were not stored
explain          why a URL was fetched, skipped or left waiting
rulings          which rule of focus let a link in, or turned it away
open_questions   pages to ask a person about, with what helps to answer
export           pages, links and sites as JSON lines, CSV or Parquet
search           full-text search over the pages; search_query: what a person may type; search_engine: the
                 pages of one crawl, found for another
report           what `Crawl.run` returns: figures, and pages as rows or data frames
"""
