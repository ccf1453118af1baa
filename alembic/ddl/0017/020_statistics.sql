-- A table that was never analyzed, or has grown fourfold since, is analyzed. Until then the planner takes a tenant for one of hundreds, or
-- for one that is not there, and a plan that a session keeps may read all of it for every row that it looks for; from then on such plans
-- are made anew, in every session. Autovacuum does the same, up to a minute later, and what is large is left to it: so is a table that
-- somebody works on. One table in a transaction: that it was analyzed is noted outside of it, so what is taken back with it is lost.
create function engram.analyze_grown_table()
returns text
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
set client_min_messages = error
as $$
declare
  v_table record;
begin
  if current_setting('transaction_read_only')::boolean then
    return null;
  end if;
  for v_table in
    select c.oid, c.oid::regclass::text as name, c.relpages
      from pg_class c
     where c.relnamespace = 'engram'::regnamespace and c.relkind = 'r' and c.relpages <= 2048
     order by 2
  loop
    if pg_relation_size(v_table.oid) / current_setting('block_size')::integer between greatest(4, 4 * v_table.relpages) and 8192 then
      execute 'analyze (skip_locked) ' || v_table.name;
      if (select c.relpages from pg_class c where c.oid = v_table.oid) <> v_table.relpages then
        return v_table.name;
      end if;
    end if;
  end loop;
  return null;
exception when lock_not_available then
  return null;
end $$;

comment on function engram.analyze_grown_table is
  'Analyze a table of a young database that nothing has analyzed since it has grown fourfold. Its name, or null.';

revoke all on function engram.analyze_grown_table from public;

grant execute on function engram.analyze_grown_table to engram_app;
