-- Roles. They belong to the cluster, so they may be there already; none of them may pass row-level security by.
do $$
declare
  wanted record;
begin
  for wanted in select * from (values
      ('engram_owner', 'nologin'),       -- owns every table and SECURITY DEFINER function
      ('engram_scheduler', 'nologin'),   -- owns the functions that claim jobs across tenants; sees memory_jobs only
      ('engram_app', 'login'),           -- what the library runs as
      ('engram_migrator', 'nologin')     -- what may migrate
    ) as roles(name, login)
  loop
    if not exists (select from pg_roles where rolname = wanted.name) then
      begin
        execute format('create role %I %s noinherit', wanted.name, wanted.login);
      exception when duplicate_object or unique_violation then
        null;   -- another database of this cluster was migrated at the same moment
      end;
    end if;
  end loop;
end $$;

-- The migrating user must be able to become the owner; a superuser can already.
do $$
declare
  role_name text;
begin
  if not (select rolsuper from pg_roles where rolname = current_user) then
    foreach role_name in array array['engram_owner', 'engram_scheduler', 'engram_app'] loop
      if not pg_has_role(current_user, role_name, 'set') then
        execute format('grant %I to %I with set true', role_name, current_user);
      end if;
    end loop;
  end if;
end $$;

do $$
begin
  if not (pg_has_role('engram_migrator', 'engram_owner', 'member')
          and pg_has_role('engram_migrator', 'engram_scheduler', 'member')) then
    grant engram_owner, engram_scheduler to engram_migrator;
  end if;
end $$;

create extension if not exists vector;

do $$
begin
  execute format('grant connect on database %I to engram_app', current_database());
end $$;

create schema if not exists engram authorization engram_owner;

set local role engram_owner;

grant usage on schema engram to engram_app, engram_scheduler;

-- The job functions change owner to the scheduler, which takes the right to create in the schema for a moment.
grant create on schema engram to engram_scheduler;
