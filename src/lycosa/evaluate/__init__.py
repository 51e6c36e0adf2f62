"""How good a crawl was: metrics as pure functions over what was fetched, in order, and pictures of them."""
