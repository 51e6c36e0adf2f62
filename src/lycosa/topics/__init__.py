"""What a person is interested in, kept in a file: topics, examples, and the judges trained on them.

    book             the file itself: a taxonomy, documents under its topics, trained judges
    schema, database, rows, documents, example_stream    its tables, connection, values, documents, and their stream
    importing        examples from folders, TOML taxonomies, label files, JSON lines and URLs
    bookmarks        folders of bookmarks as topics
    start            where a crawl for topics starts: from their examples
    training         cross-validation, then the fit on everything
    judges           from a book to the judge of a crawl; `evolving`: choices of the one that evolves its similarity
    feedback         what people say about pages teaches the judge
    marks            what that changes in the book, and how it is undone
    suggest          topics that fit a page, neighbouring topics, when to widen the focus
    further_examples pages near a topic's examples that share its words

The rules of the tree are in `judges.taxonomy`, the classifiers beside it; this package stores and trains them.
"""
