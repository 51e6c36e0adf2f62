"""The results of a crawl, for people and for other tools.

archived_pages   pages read again from the archive
check            whether database and archive are whole and agree
deciding_words   the words that decided on a page, where they were not stored
explain          why a URL was fetched, skipped or left waiting
rulings          which rule of focus let a link in, or turned it away
open_questions   pages to ask a person about, with what helps to answer
export           pages, links and sites as JSON lines, CSV or Parquet
report           what `Crawl.run` returns: figures, and pages as rows or data frames
"""
