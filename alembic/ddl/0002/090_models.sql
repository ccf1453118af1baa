-- Change of the embedding model: a second set of vectors beside the first, and one moment at which it takes its place.

-- Three vectors of known texts, by which a model is recognised: the same name may stand for another model tomorrow.
alter table engram.embedding_models
  add column probes halfvec[] check (cardinality(probes) = 3),
  add column changed_at timestamptz not null default clock_timestamp();

-- An earlier release noted every second model of a tenant as being built, and built none. The wall is forced again below.
alter table engram.embedding_models no force row level security;

update engram.embedding_models set state = 'retired' where state = 'building';

alter table engram.embedding_models force row level security;

create unique index embedding_models_building on engram.embedding_models (tenant_id) where state = 'building';

-- Set where a text was longer than the model reads at once: its vector is the mean of its windows.
alter table engram.memory_embeddings add column windowed boolean not null default false;

-- What was written while a model is being built and has no vector of it yet, and what the model could not embed.
create table engram.embedding_backlog (
  tenant_id text not null,
  model_id bigint not null,
  memory_id uuid not null,
  error_class text check (octet_length(error_class) between 1 and 64),
  primary key (tenant_id, model_id, memory_id),
  foreign key (tenant_id, model_id) references engram.embedding_models
);

comment on table engram.embedding_backlog is
  'Memories that a model being built still owes a vector; with an error class those that it cannot embed.';

grant insert, update, delete on engram.embedding_backlog to engram_app;

-- Keep the tenant's models as they are until the end of the transaction, and tell them. A writer takes the lock shared, a
-- change of model takes it alone. In one function, because a statement that waited would answer with what it saw before.
create function engram.hold_models()
returns table (model_id bigint, name text, dimensions integer, state text, thresholds jsonb, probed boolean)
language plpgsql
set search_path = engram, public, pg_temp
as $$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended(engram.current_tenant() || '/models', 7));
  return query
    select m.model_id, m.name, m.dimensions, m.state, m.thresholds, m.probes is not null
      from embedding_models m
     where m.tenant_id = engram.current_tenant() and m.state <> 'retired';
end $$;

comment on function engram.hold_models is 'The models in use or being built, which stay so until the transaction ends.';

grant execute on function engram.hold_models to engram_app;
