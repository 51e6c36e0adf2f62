-- A crawl in DuckDB: its tables through DuckDB's SQLite extension, which DuckDB downloads on first use.
--
--     cd cycling/ && duckdb -init duckdb.sql
--
-- With a corpus exported to corpus.parquet or corpus.jsonl no extension is needed: select * from 'corpus.parquet'.

attach 'crawl.db' as crawl (type sqlite, read_only);

create view crawl_pages as
select f.url, p.title, p.language, p.words, p.fetched_at, p.number, j.relevance, j.is_relevant, h.name as host, f.distance
from crawl.pages p
join crawl.frontier f on f.id = p.id
join crawl.hosts h on h.id = f.host_id
left join crawl.judgements j on j.page_id = p.id;

create view crawl_links as
select s.url as source, t.url as target, l.anchor, l.rel
from crawl.links l
join crawl.frontier s on s.id = l.source_id
join crawl.frontier t on t.id = l.target_id;

create view crawl_outcomes as
select f.url, o.kind, o.reason, o.detail, o.status, o.seconds, o.bytes, o.at
from crawl.outcomes o
join crawl.frontier f on f.id = o.link_id;
