"""What is relevant: judges turn a page, an anchor or a URL into a number in [0, 1].

    protocol            what a judge is, and what it may declare about itself
    table               classifiers by name
    keywords            cosine similarity to a few words (paper TC)
    contrast            learns what a topic is and is not, from words, examples and the crawl; the default
    background          how common words are in general
    meaning             how near a page is to words in meaning, by word vectors (an extra)

Judges trained on the examples of a taxonomy:

    taxonomy            the tree of topics, and which of them are good; `taxonomy_file` reads and writes it as TOML
    classifier          what a classifier is
    bayes, svm, knn, gp, weighted_keywords      the classifiers
    tfidf, labels, calibration, saved_arrays    shared by the classifiers
    topic_judges        judges based on a classifier: for good topics (paper FC), or for a formula (paper AR)
    formula             formulas over topics; `generalise` makes wider ones, `interest` offers them to tunnelling
"""
