"""Webs whose truth is known.

Made ones: `plan` says what a generated web is like; `graph`, `sites`, `prose` and `writer` make it; `generated` is the
web itself; `server` serves it over HTTP, with `faults` on request.

Recorded ones: `build` turns WARC files and labels into a world file (`container`, `world_writer`, `world`); `tasks`
draws crawl tasks from its topics; `replay` crawls it by the crawl's own loop; `compare` holds strategies against each
other and against two bounds, random and `oracle`.
"""
