"""Where a crawl starts: `files` of URLs, `bookmarks` exported by browsers, and search engines (`metasearch`)."""
