"""What a person is interested in, kept in a file: topics, examples, and the judges that learned from them.

    book       the file itself: a taxonomy, documents under its topics, trained judges
    importing  examples from folders, TOML taxonomies, label files and JSON lines
    training   cross-validation, then the fit on everything
    suggest    topics that fit examples, further examples, neighbouring topics and when to widen the focus

The rules of the tree live in `relevance/taxonomy.py`, the learners beside it; here is only what lasts.
"""
