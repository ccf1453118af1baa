-- The log of a recall and the count of what it returned, by a function that keeps their plans: planning took longer than writing.
create function engram.note_recall(
  p_tenant_id text, p_recall_id uuid, p_scope_id bigint, p_scope_ids bigint[], p_known_at timestamptz, p_kind text, p_query text,
  p_words text[], p_plan jsonb, p_found jsonb, p_chosen uuid[], p_intent text, p_degraded text[], p_versions jsonb, p_tokens integer,
  p_milliseconds float8, p_accessed uuid[])
returns void
language plpgsql
set plan_cache_mode = force_generic_plan
as $$
begin
  perform set_config('synchronous_commit', 'off', true);
  insert into engram.recall_log (tenant_id, recall_id, scope_id, scope_ids, known_at, kind, query, words, plan, found, chosen, intent,
    degraded, versions, tokens, milliseconds)
  values (p_tenant_id, p_recall_id, p_scope_id, p_scope_ids, coalesce(p_known_at, clock_timestamp()), p_kind, p_query, p_words, p_plan,
    p_found, p_chosen, p_intent, p_degraded, p_versions, p_tokens, p_milliseconds)
  on conflict (tenant_id, recall_id) do nothing;
  -- A row that was there already was counted when it was written.
  if found and cardinality(p_accessed) > 0 then
    update engram.memory_activity a
       set access_count = a.access_count + 1, last_accessed_at = clock_timestamp(),
           accessed_epoch = (select s.epoch from engram.memory_scopes s where s.tenant_id = a.tenant_id and s.scope_id = a.scope_id)
     where a.tenant_id = p_tenant_id
       and a.memory_id in (
           select b.memory_id from engram.memory_activity b
            where b.tenant_id = p_tenant_id and b.memory_id = any (p_accessed)
            order by b.memory_id for update skip locked);
  end if;
end $$;

comment on function engram.note_recall is 'Log a recall, once, and count what it returned; busy counters are left alone. Its commit waits for no disk.';
