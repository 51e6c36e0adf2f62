"""Where a crawl starts: `files` of URLs, and `bookmarks` as browsers export them."""
