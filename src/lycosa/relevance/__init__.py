"""What is relevant: judges turn a page, an anchor or a URL into a number in [0, 1].

- `judge` is the protocol; `keywords` the simplest judge, for a few words.
- `taxonomy` (and `taxonomy_file`, TOML): topics a person chooses from; `classifier`: what learns from their examples.
- `bayes` (with `bayes_tree`, `bayes_node`, `bayes_membership`, `bayes_trials`, `features`), `svm`, `knn` and
  `weighted_keywords`: what there is to learn with; `tfidf`, `labels`, `calibration`, `saved` serve them.
- `topics`: judges made of a classifier, for good topics or for a formula; `formula`, `generalise`, `interest`:
  formulas over topics, wider ones, and what tunnelling asks of them.
"""
