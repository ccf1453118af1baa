-- The tenant wall: forced row-level security with one policy on every table that has a tenant.
do $$
declare
  name text;
begin
  for name in
    select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = 'engram' and c.relkind in ('r', 'p')
       and exists (select from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped)
  loop
    execute format('alter table engram.%I enable row level security', name);
    execute format('alter table engram.%I force row level security', name);
    if not exists (select from pg_policies where schemaname = 'engram' and tablename = name and policyname = 'tenant') then
      execute format('create policy tenant on engram.%I using (tenant_id = (select engram.current_tenant()))'
        || ' with check (tenant_id = (select engram.current_tenant()))', name);
    end if;
  end loop;
end $$;

-- What the application may do. The ledger's own grants stand with the ledger.
grant select on all tables in schema engram to engram_app;

grant insert on engram.memory_scopes, engram.agent_memory, engram.memory_sources, engram.memory_activity, engram.memory_changes,
  engram.memory_relations to engram_app;

grant update on engram.memory_scopes, engram.agent_memory, engram.memory_sources, engram.memory_activity, engram.memory_relations
  to engram_app;

-- The history is appended to; an erasure empties what it quotes.
grant update (state, decision, reason) on engram.memory_changes to engram_app;

grant usage on all sequences in schema engram to engram_app;

alter function engram.current_tenant() owner to engram_owner;

revoke create on schema engram from engram_scheduler;

reset role;
