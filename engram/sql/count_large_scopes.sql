-- How many scopes of a tenant have more memories than that, and how many the largest has, as they were counted last.
SELECT count(*) AS scopes, max(t.df) AS most
  FROM engram.memory_terms t
 WHERE t.tenant_id = %(tenant_id)s AND t.term = '' AND t.df > %(large)s
