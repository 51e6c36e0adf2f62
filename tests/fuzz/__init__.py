"""Hostile input for everything that reads what others have written.

targets    the parsers, each as a function of bytes that may raise only what it says it raises
fuzzer     mutates a corpus, and keeps what reaches lines that nothing has reached before
native     the compiled parts of reading under libFuzzer and sanitizers; native_targets: what is done with an input
corpus/    a directory of inputs for each target; what was once found stays there

    python -m fuzz --minutes 10        # in tests/; or: make fuzz MINUTES=10
    python -m fuzz.native              # or: make fuzz-native RUNS=10000000
"""
