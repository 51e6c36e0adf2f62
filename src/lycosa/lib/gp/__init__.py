"""Genetic programming: formulas over arrays, evolved (paper GP, section 3).

    trees           expression trees, and the language that they are written in, with types
    text            a tree as a formula that people read and write, and back
    simplify        the same formula in fewer symbols
    interpret       the value of a tree over arrays, never by `eval`; sub-trees that many trees share are computed once
    operators       random trees, crossover, mutation, the winner of a group
    evolution       the generations

It knows nothing of documents: terminals are names of arrays, and fitness is a function that the caller passes in.
"""
