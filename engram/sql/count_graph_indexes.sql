-- In how many partitions the vectors of a model have a graph that is whole.
SELECT count(*) AS parts
  FROM pg_index i
  JOIN pg_class c ON c.oid = i.indexrelid
  JOIN pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = 'engram' AND i.indisvalid AND c.relname ~ ('^memory_embeddings_[0-9]+_graph_' || %(model_id)s || '$')
