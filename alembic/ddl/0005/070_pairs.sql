-- Which memories have been looked at for others like them, and what they are like: kept so that no run asks the same twice. Both
-- tables are a memo. They may be emptied at any time; then the next run looks again.
create table engram.memory_looks (
  tenant_id text not null,
  scope_id bigint not null,
  memory_id uuid not null,
  model_id bigint not null,                       -- by which model; 0: by words
  primary key (tenant_id, scope_id, memory_id, model_id)
);

comment on table engram.memory_looks is 'Memories whose nearest others are in memory_pairs.';

create table engram.memory_pairs (
  tenant_id text not null,
  scope_id bigint not null,
  low_id uuid not null,
  high_id uuid not null,
  model_id bigint not null,
  similarity float8 not null check (similarity between 0 and 1),
  verdict text check (verdict in ('apart', 'merged', 'reconciled', 'like')),
  primary key (tenant_id, low_id, high_id, model_id),
  check (low_id < high_id)
);

comment on table engram.memory_pairs is 'Pairs of like memories, the smaller id first; with a verdict they are not judged again.';

create index memory_pairs_alike on engram.memory_pairs (tenant_id, scope_id, model_id, similarity, low_id, high_id);

create index memory_pairs_high on engram.memory_pairs (tenant_id, high_id);

-- An erased memory leaves no trace here: not even what it was like.
create function engram.forget_pairs() returns trigger
language plpgsql
set search_path = engram, pg_temp
as $$
begin
  delete from memory_pairs p where p.tenant_id = new.tenant_id and p.low_id = new.memory_id;
  delete from memory_pairs p where p.tenant_id = new.tenant_id and p.high_id = new.memory_id;
  delete from memory_looks l where l.tenant_id = new.tenant_id and l.scope_id = new.scope_id and l.memory_id = new.memory_id;
  return null;
end $$;

create trigger forget_pairs after update of status_reason on engram.agent_memory
  for each row when (new.status_reason = 'erased' and old.status_reason is distinct from 'erased')
  execute function engram.forget_pairs();

-- What a summary stands for.
create index agent_memory_consolidated on engram.agent_memory (tenant_id, consolidated_into) where consolidated_into is not null;

grant insert, update, delete on engram.memory_looks, engram.memory_pairs to engram_app;
