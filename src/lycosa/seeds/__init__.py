"""Where a crawl starts: `files` of URLs, and `bookmarks` exported by browsers."""
