"""What a crawl remembers: one transaction per step, in tables people can query.

`store.py` says what a store can do, `rows.py` what is written, `schema.py` holds the tables and their
migrations, `sqlite.py` the embedded store. docs/schema.md explains the tables to those who query them.
"""
