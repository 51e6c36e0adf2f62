"""Hierarchical naive Bayes (paper FC): at each inner topic, which child does a page belong to?

bayes        the classifier
tree         topics by number, and an example's path down the tree
features     which words tell a topic from its siblings
node         one inner topic: its counts, and the posteriors of its children
membership   how well a page fits each topic by itself; several may fit, or none
short_texts  how well a few words fit each topic: anchors, URLs
held_out     scores of held-out examples, and the temperatures fitted to them
"""
