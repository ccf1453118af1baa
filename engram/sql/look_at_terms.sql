-- How many memories of a scope are in the word index, and how many there were when its frequencies were counted.
SELECT (SELECT count(*) FROM engram.memory_lexemes l WHERE l.tenant_id = %(tenant_id)s AND l.scope_id = %(scope_id)s) AS size,
       (SELECT t.df FROM engram.memory_terms t
         WHERE t.tenant_id = %(tenant_id)s AND t.scope_id = %(scope_id)s AND t.term = '') AS counted
