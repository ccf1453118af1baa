-- Write, or write again, the words memories are found by.
SELECT engram.index_words(
  p_tenant_id => %(tenant_id)s, p_scope_id => %(scope_id)s, p_config => %(config)s, p_memory_ids => %(memory_ids)s::uuid[],
  p_own => %(own)s::text[], p_before => %(before)s::text[], p_after => %(after)s::text[], p_farther => %(farther)s::text[])
