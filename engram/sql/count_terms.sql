-- Count in how many memories of a scope each word occurs (its own words only); rare words are left out and counted when asked.
INSERT INTO engram.memory_terms (tenant_id, scope_id, term, df)
SELECT %(tenant_id)s, %(scope_id)s, substr(t.word, length(%(scope_id)s::text) + 2), t.ndoc
  FROM ts_stat('SELECT lexemes FROM engram.memory_lexemes WHERE tenant_id = engram.current_tenant() AND scope_id = '
               || %(scope_id)s::bigint, 'a') t
 WHERE t.ndoc >= %(least)s
UNION ALL
SELECT %(tenant_id)s, %(scope_id)s, '', count(*) FROM engram.memory_lexemes l
 WHERE l.tenant_id = %(tenant_id)s AND l.scope_id = %(scope_id)s
