-- How many vectors of a scope are not in the graph, up to a bound, and whether any is.
SELECT (SELECT count(*) FROM (SELECT FROM engram.memory_embeddings e
          WHERE e.tenant_id = %(tenant_id)s AND e.scope_id = %(scope_id)s AND e.model_id = %(model_id)s AND NOT e.indexed
          LIMIT %(most)s) f) AS fresh,
       EXISTS (SELECT FROM engram.memory_graphs g
                WHERE g.tenant_id = %(tenant_id)s AND g.scope_id = %(scope_id)s AND g.model_id = %(model_id)s) AS graphed
