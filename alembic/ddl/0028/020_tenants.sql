-- Statements that are planned for no values, and what the wall asks of every row, are planned for an average tenant: where most tenants are
-- small, a large one would be read whole, since all of an average one costs less than to look for a key. Told that there are twenty, the planner takes
-- each for a twentieth of all rows, if one of them is as large; told that there is one, it would join by all rows of a tenant instead of
-- asking for keys. What is told counts from the next time on that a table is analyzed.
do $$
declare
  v_table record;
begin
  for v_table in
    select c.oid::regclass as name, case when c.relkind = 'p' then 'n_distinct_inherited' else 'n_distinct' end as told
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
     where c.relnamespace = 'engram'::regnamespace and c.relkind in ('r', 'p')
     order by c.oid
  loop
    execute format('alter table %s alter column tenant_id set (%s = 20)', v_table.name, v_table.told);
  end loop;
end $$;
