-- Forget the questions, and the filters and variants, of logged recalls that share a word with what is erased from one of their scopes.
UPDATE engram.recall_log l
   SET query = NULL, words = '{}', plan = l.plan - ARRAY['filter', 'variants', 'queries', 'question']
 WHERE l.tenant_id = %(tenant_id)s AND l.words && %(words)s::text[] AND %(scope_id)s::bigint = ANY(l.scope_ids)
