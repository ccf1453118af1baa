-- The tenant wall around the tables of this revision: forced row-level security with one policy on every table that has a tenant.
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

grant select on all tables in schema engram to engram_app;

grant usage on all sequences in schema engram to engram_app;

reset role;
