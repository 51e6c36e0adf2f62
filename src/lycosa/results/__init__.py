"""The results of a crawl, for people and for other tools.

archived_pages   pages read again from the archive
check            whether database and archive are whole and agree
deciding_words   the words that decided on a page, where they were not stored
explain          why a URL was fetched, skipped or left waiting
rulings          which rule of focus let a link in, or turned it away
open_questions   pages to ask a person about, with what helps to answer
search           full-text search over the pages; search_query: what a person may type; search_engine: the
                 pages of one crawl, found for another
export           pages, links and sites by the name of a file: JSON lines, CSV, Parquet
page_rows        pages as rows: what the store knows, text, Markdown, metadata, clusters of near-duplicates
markdown_folder  pages as Markdown files with YAML
wacz             pages as a web archive to replay, and as an index of the crawl's own
report           what `Crawl.run` returns: figures, and pages as rows or data frames
"""
