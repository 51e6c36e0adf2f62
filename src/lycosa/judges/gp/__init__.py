"""A similarity of pages that is evolved from examples, and a judge by it (paper GP, sections 2 and 3).

    fields          what of a page is compared: title and body; beyond the paper, words of its URL and its links
    evidence        kinds of evidence that two documents are alike: {bag of words, cosine, Okapi} × fields
    fitness         how well a similarity classifies by its nearest neighbours
    neighbours      the k nearest of many documents at once, compiled
    learning        evolves a similarity: on training examples, chosen on validation examples
    formula_file    a similarity as a file that people read and edit
    similarity      the evolved similarity of a page to the examples
    judge           the classifier gp-knn

The genetic programming itself, which knows nothing of documents, is `lib.gp`.
"""
