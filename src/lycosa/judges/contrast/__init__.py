"""A judge for a topic given by a few words or example pages, which learns from the crawl what the topic is not.

judge           the formulas, and the judge at one moment
study           what is learned page by page, recomputed on demand: guides the crawl
verdict         what is said of the pages: how likely each is about the topic
by_words        how sure it is without examples
mixture         from scores to probabilities, whatever share of the pages is about the topic
weighing        the weight of each word, by examples, keywords and what the topic is not
studied_pages   the words of the pages met
page_vector     what is kept of a page, and the scale from scores to relevance
fitting_seeds   which seeds are examples, if the topic is given in words
by_meaning      what the meaning of a page's beginning adds, if the topic is given in words
two_topics      whether the examples are about one thing or two
"""
