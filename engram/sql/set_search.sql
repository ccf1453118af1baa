-- How a search runs in this transaction: the vector graph is walked on until enough rows of the scope were met, and no longer than
-- its channels may take.
SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', %(breadth)s, true),
       set_config('hnsw.max_scan_tuples', '40000', true),
       set_config('statement_timeout', least(%(milliseconds)s, coalesce(nullif(
         (1000 * extract(epoch FROM current_setting('statement_timeout')::interval))::bigint, 0), %(milliseconds)s))::text, true)
