"""The strategies of the papers, one file each.

breadth_first, best_first, pagerank     paper TC: the baselines
shark                                   paper TC: Shark-Search, and Fish-Search before it
infospiders, spider, page_words         paper TC: agents that learn and multiply; one agent; the words it sees
batches                                 paper TC: batches of the best N links, for best-first-N and shark-N
random_order                            paper FC: the unfocused crawl
ariadne                                 paper AR: the weighted geometric mean of link criteria
evolved, citations                      paper GA: the evolved rank, and the citation counts it needs
current_list                            paper GA: the simulator's order of downloads, for any strategy
"""
