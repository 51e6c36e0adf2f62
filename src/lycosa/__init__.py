"""Lycosa, a focused web crawler. The way a page takes is told in `lycosa.crawl.loop`."""

__version__ = "0.1.0"
