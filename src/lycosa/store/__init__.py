"""What a crawl remembers: one transaction per step, in tables that people can query.

    protocol            what the crawl asks of a store, and what people and reports ask
    rows                what a transaction writes, and what reading returns
    schema              the tables and their migrations
    sqlite              the embedded store: writing, and reading for the crawl
    sqlite_reports      the embedded store: reading for people and reports
    sqlite_dashboard    the embedded store: reading for the dashboard, and queries within limits
    sqlite_connection   the embedded store: opening, migrating, errors
    search_index        the full-text index of a crawl, a file of its own
    damage              what is wrong with a database, and mending it
    stored_visits       visits as the strategy saw them, rebuilt from the tables

No SQL is written outside this package. docs/schema.md explains the tables to those who query them.
"""
