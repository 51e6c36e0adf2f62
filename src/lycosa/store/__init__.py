"""What a crawl remembers: one transaction per step, in tables that people can query.

    protocol        what the crawl asks of a store
    rows            what one transaction writes, and what reading gives back
    schema          the tables and their migrations
    sqlite          the embedded store
    reading         what people and reports ask: every other SQL statement
    stored_visits   visits as they were told to the strategy, made again from the tables

docs/schema.md explains the tables to those who query them.
"""
