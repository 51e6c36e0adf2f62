"""What a crawl remembers: one transaction per step, in tables that people can query.

    protocol             what the crawl asks of a store, and what people and reports ask
    rows                 what a transaction writes, and what reading returns
    opening              where a crawl's store is, and opening it
    schema               the tables and their migrations
    asking               how a query reaches a database, whichever it is
    reading              the queries of a crawl
    reports              the queries of people and reports
    changes              what a transaction changes
    stored_visits        visits as the strategy saw them, rebuilt from the tables
    sqlite               the embedded store: writing
    sqlite_connection    the embedded store: opening, migrating, reading, errors
    dashboard            the queries of the dashboard
    sqlite_dashboard     the embedded store for the dashboard: typed queries within limits
    postgres             the store in PostgreSQL: writing, and who may
    postgres_connection  its sessions: reading, and waiting for a server that went away
    postgres_schema      its tables, made and migrated
    postgres_dialect     what differs between the two kinds of SQL
    postgres_cluster     what the shards of a cluster share, and views over all of them
    postgres_dashboard   the dashboard's view of it: typed queries within limits
    postgres_typed       what typed queries may name there
    postgres_whole       all shards of a cluster as one crawl, for people who look at it
    postgres_errors      what goes wrong with a server, in words
    transfer             a crawl's database moves from one store to another, and is compared
    postgres_transfer    that of a cluster
    search_index         the full-text index of a crawl, a file of its own
    damage               what is wrong with a database, and mending it

No SQL is written outside this package. docs/schema.md explains the tables to those who query them.
"""
