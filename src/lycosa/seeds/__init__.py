"""Where a crawl starts: URLs given by hand and files of them."""
