"""A judge for a topic of a few words or example pages, which learns from the crawl what the topic is not.

judge           the formulas, and the judge as it stands at one moment
study           what is learned page by page, worked out anew as often as asked
page_vector     what is kept of a page, and the scale from scores to relevance
fitting_seeds   which seeds are examples, where words say what the topic is
two_topics      whether the examples speak of one thing or of two
"""
