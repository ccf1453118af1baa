-- From here on everything is made by, and belongs to, the owner.
set local role engram_owner;

set local search_path = engram, public;

create function engram.current_tenant() returns text
language sql stable parallel safe
as $$ select nullif(current_setting('engram.tenant_id', true), '') $$;

comment on function engram.current_tenant() is 'The tenant of this transaction; NULL, and therefore no rows, when none was set.';

create table engram.memory_scopes (
  tenant_id text not null check (octet_length(tenant_id) between 1 and 200),
  scope_id bigint generated always as identity,
  namespace text not null check (octet_length(namespace) between 1 and 200),
  agent_id text not null check (octet_length(agent_id) between 1 and 200),
  user_id text check (octet_length(user_id) between 1 and 200),
  epoch bigint not null default 0,
  created_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, scope_id),
  unique nulls not distinct (tenant_id, namespace, agent_id, user_id)
);

comment on table engram.memory_scopes is 'Whose memory: one row a scope, made by its first write.';
