"""Crawlers, each as a program that is given a task: a file of JSON (`run.Task`).

It crawls from the seeds, as its users would set it up, and writes the pages that it keeps as lines of JSON with url,
title and text. Any command that does so can be sent through the suite.
"""
