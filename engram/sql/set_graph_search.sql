-- How the vector graph is walked in this transaction: on until enough rows of the scope were met.
SELECT set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.ef_search', %(breadth)s, true),
       set_config('hnsw.max_scan_tuples', '40000', true)
