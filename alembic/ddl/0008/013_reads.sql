-- The reads that an agent makes most often beside a search, by functions that keep their plans: what is pinned, and a lineage. Each says
-- which memories it wants, and whole_memories brings them.
create function engram.pinned_memories(p_tenant_id text, p_scope_ids bigint[], p_own bigint, p_types text[])
returns uuid[]
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
begin
  return array(
    select m.memory_id
      from engram.agent_memory m
     where m.tenant_id = p_tenant_id and m.scope_id = any (p_scope_ids) and (not m.private or m.scope_id = p_own)
       and m.status = 'active' and m.consolidated_into is null
       and (m.expires_at is null or m.expires_at > clock_timestamp()) and (m.ended_at is null or m.ended_at > clock_timestamp())
       and m.critical_slot is not null and not m.moot
       and (p_types is null or m.memory_type = any (p_types)));
end $$;

comment on function engram.pinned_memories is 'The pinned memories of a read that are current, in no order.';

create function engram.lineage_memories(p_tenant_id text, p_scope_ids bigint[], p_own bigint, p_memory_id uuid)
returns uuid[]
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
begin
  return array(
    select m.memory_id
      from engram.agent_memory m
     where m.tenant_id = p_tenant_id
       and m.lineage_id = (
             select o.lineage_id
               from engram.agent_memory o
              where o.tenant_id = p_tenant_id and o.memory_id = p_memory_id
                and (o.scope_id = any (p_scope_ids) and (not o.private or o.scope_id = p_own)) is true));
end $$;

comment on function engram.lineage_memories is 'The revisions of the lineage of a memory that a read may see, in no order.';
