"""Where a crawl starts: URLs given by hand, files of them, bookmarks."""
