"""A crawl by several crawlers, on one machine or many: PostgreSQL keeps the state, Ray the processes.

    partitions    which shard a host belongs to, and which crawler runs a shard: pure functions
    crawler       the process that runs shards, each as a crawl like any other
    grants        which shard may fetch how many pages more
    driver        starts crawlers, replaces those that die, keeps budget and stop rules
    work          no crawl: the laboratory's work, spread over all processors
    connection    Ray itself

This is the only package that imports Ray. What a shard does differently from a crawl of one process is in
`crawl.shard`, and what shards share in the database in `store.postgres_cluster`. docs/scale.md tells users of it.
"""
