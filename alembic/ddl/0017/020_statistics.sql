-- What was never analyzed, or while it was all but empty, and has grown to some pages since, is analyzed. Until then the planner takes
-- a tenant for one of hundreds, and a plan that a session keeps may read all of it for every row that it looks for; from then on such
-- plans are made anew, in every session. Autovacuum does the same, a minute later. A table that somebody else works on is left to them.
create function engram.analyze_grown_tables()
returns text[]
language plpgsql volatile security definer
set search_path = pg_catalog, pg_temp
set lock_timeout = '50ms'
as $$
declare
  v_table text;
  v_analyzed text[] := '{}';
begin
  if current_setting('transaction_read_only')::boolean then
    return v_analyzed;
  end if;
  for v_table in
    select c.oid::regclass::text
      from pg_class c
     where c.relnamespace = 'engram'::regnamespace and c.relkind = 'r' and c.reltuples < 100
       and pg_relation_size(c.oid) >= 4 * current_setting('block_size')::integer
     order by 1
  loop
    begin
      execute 'analyze ' || v_table;
      v_analyzed := v_analyzed || v_table;
    exception when lock_not_available then
      null;
    end;
  end loop;
  return v_analyzed;
end $$;

comment on function engram.analyze_grown_tables is
  'Analyze the tables that have grown since they were made and that nothing has analyzed yet. Their names.';

revoke all on function engram.analyze_grown_tables from public;

grant execute on function engram.analyze_grown_tables to engram_app;
