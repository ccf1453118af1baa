-- The memories of a lineage, and those that contradict one memory and have no key that orders them: what an answer is told from beside its
-- search. It runs as its caller and keeps its plan; `list_contradictions.sql` and `load_memories.sql` say the same of any moment.
create function engram.line_of(p_tenant_id text, p_lineage_id uuid, p_memory_id uuid)
returns table (line uuid[], rivals uuid[])
language plpgsql stable rows 1
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  select array(select m.memory_id from engram.agent_memory m where m.tenant_id = p_tenant_id and m.lineage_id = p_lineage_id),
         array(select r.target_id from engram.memory_relations r
                where r.tenant_id = p_tenant_id and r.source_id = p_memory_id and r.relation_type = 'contradicts' and r.ended_at is null
                union
               select r.source_id from engram.memory_relations r
                where r.tenant_id = p_tenant_id and r.target_id = p_memory_id and r.relation_type = 'contradicts' and r.ended_at is null);
end $$;

comment on function engram.line_of is 'The memories of a lineage, and those that contradict a memory.';

revoke all on function engram.line_of from public;

grant execute on function engram.line_of to engram_app;
