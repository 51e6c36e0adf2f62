"""A crawl by several crawlers, on one machine or many: PostgreSQL keeps the state, Ray the processes.

    partitions    which shard a host belongs to, and which crawler runs a shard: pure functions
    crawler       what a crawler does: it runs shards, each as a crawl like any other
    crew          the crawlers that there are at a moment, as nodes come and go, and which shards each of them runs
    grants        which shard may fetch how many pages more
    refreshing    what each shard looks at again in a refresh of the whole
    driver        a run of the whole: keeps budget and stop rules, and says when all is over
    work          no crawl: the laboratory's work, spread over all processors
    connection    Ray itself

This is the only package that imports Ray. What a shard does differently from a crawl of one process is in
`crawl.shard`, and what shards share in the database in `store.postgres_cluster`. docs/scale.md tells users of it.
"""
