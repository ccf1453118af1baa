-- Finding: words by scope, vectors by scope and model, and the names that speak in a scope. All of it is a projection of
-- the memories: it may be dropped and built again, and every read joins it with the memories themselves.

create table engram.embedding_models (
  tenant_id text not null,
  model_id bigint not null check (model_id > 0),
  name text not null check (char_length(name) between 1 and 200),
  dimensions integer not null check (dimensions between 1 and 4000),
  state text not null check (state in ('building', 'active', 'retired')),
  thresholds jsonb not null default '{}',
  created_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, model_id)
);

-- A vector is asked for under one model only.
create unique index embedding_models_active on engram.embedding_models (tenant_id) where state = 'active';

comment on table engram.embedding_models is 'Embedding models by tenant; a model is its name and its dimensions.';

-- Vectors, apart from the wide memories: a narrow row is scanned exactly in a millisecond for most scopes. A row of a large
-- scope is marked `indexed` in batches, by a job, and enters the graph then: a write never pays for it.
create table engram.memory_embeddings (
  tenant_id text not null,
  scope_id bigint not null,
  model_id bigint not null,
  memory_id uuid not null,
  embedding halfvec not null,
  indexed boolean not null default false,
  primary key (tenant_id, scope_id, model_id, memory_id)
) partition by hash (scope_id);

do $$
begin
  for part in 0..31 loop
    execute format('create table engram.memory_embeddings_%s partition of engram.memory_embeddings'
      || ' for values with (modulus 32, remainder %s)', lpad(part::text, 2, '0'), part);
  end loop;
end $$;

create index memory_embeddings_fresh on engram.memory_embeddings (tenant_id, scope_id, model_id) where not indexed;

-- The graph of the default model (wordllama, 256 dimensions); the number is `engram.embedding.model_id` of it.
create index memory_embeddings_graph on engram.memory_embeddings
  using hnsw ((embedding::halfvec(256)) halfvec_cosine_ops) where indexed and model_id = 3885764830968211142;

-- Which scopes have vectors in the graph: a search asks this first, and asking the partitions would cost more than it does.
create table engram.memory_graphs (
  tenant_id text not null,
  scope_id bigint not null,
  model_id bigint not null,
  primary key (tenant_id, scope_id, model_id)
);

comment on table engram.memory_graphs is 'Scopes so large that their vectors are in a graph.';

comment on table engram.memory_embeddings is 'One vector a memory and model; partitioned by scope, never an index per tenant.';

-- Words. Every lexeme carries its scope, so that the index knows it: '12:hous'. Weights: A the memory's own words, B the two
-- messages before it in its session, C the two after, D those farther back and the date.
create table engram.memory_lexemes (
  tenant_id text not null,
  scope_id bigint not null,
  memory_id uuid not null,
  lexemes tsvector not null,
  own_terms integer not null check (own_terms >= 0),
  primary key (tenant_id, memory_id)
);

-- New words wait in a short list that every search reads: a long one would cost a search more than it saves a write.
create index memory_lexemes_words on engram.memory_lexemes using gin (lexemes) with (gin_pending_list_limit = 256);

create index memory_lexemes_scope on engram.memory_lexemes (tenant_id, scope_id);

comment on table engram.memory_lexemes is 'The words a memory is found by, its own and those around it in the conversation.';

-- Document frequencies of large scopes, counted by a job; the term '' holds the number of memories.
create table engram.memory_terms (
  tenant_id text not null,
  scope_id bigint not null,
  term text not null,
  df bigint not null check (df >= 0),
  primary key (tenant_id, scope_id, term)
);

comment on table engram.memory_terms is 'In how many memories of a large scope a word occurs; absent for small scopes, where it is counted.';

-- The names that speak in a scope, so that a question naming one can be told from its topic.
create table engram.memory_actors (
  tenant_id text not null,
  scope_id bigint not null,
  actor text not null check (char_length(actor) between 1 and 200),
  primary key (tenant_id, scope_id, actor)
);

comment on table engram.memory_actors is 'Who speaks in a scope.';

-- Every lexeme of a vector prefixed with its scope. Lexemes of the default parser hold no white space, so a quote after a
-- blank begins one.
create function engram.scoped_lexemes(p_scope bigint, p_lexemes tsvector) returns tsvector
language sql immutable strict parallel safe
as $$ select replace(' ' || p_lexemes::text, ' ''', ' ''' || p_scope || ':')::tsvector $$;

-- One lexeme of a scope, quoted for a text query.
create function engram.scoped_lexeme(p_scope bigint, p_lexeme text) returns text
language sql immutable strict parallel safe
as $$ select '''' || p_scope || ':' || replace(replace(p_lexeme, '\', '\\'), '''', '''''') || '''' $$;

-- The vector a memory is found by.
create function engram.memory_lexemes_of(p_scope bigint, p_config regconfig, p_own text, p_before text, p_after text, p_farther text)
returns tsvector
language sql stable parallel safe
as $$
  select engram.scoped_lexemes(p_scope,
    setweight(to_tsvector(p_config, left(p_own, 100000)), 'A') || setweight(to_tsvector(p_config, left(p_before, 20000)), 'B')
    || setweight(to_tsvector(p_config, left(p_after, 20000)), 'C') || setweight(to_tsvector(p_config, left(p_farther, 20000)), 'D'))
$$;

-- `@@` is not leakproof, so under row-level security it cannot use an index: PostgreSQL must check the policy of each row
-- first. The two functions below therefore read as the owner, who may see every row of this one table, and name the tenant
-- themselves. They tell the app role nothing else; what they return is joined with the memories, which have the wall.
-- `is true` keeps tenant and scope out of the plan: the lexemes know their scope already, and the planner, which cannot know
-- that, would otherwise read the whole scope by its index to intersect it.
create policy owner_reads on engram.memory_lexemes for select to engram_owner using (true);

create function engram.lexeme_matches(p_scopes bigint[], p_query tsquery, p_most integer)
returns table (memory_id uuid, scope_id bigint, own_terms integer, lexemes tsvector)
language sql stable strict security definer rows 500
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
  select l.memory_id, l.scope_id, l.own_terms, l.lexemes
    from engram.memory_lexemes l
   where l.lexemes @@ p_query
     and (l.tenant_id = engram.current_tenant()) is true and (l.scope_id = any (p_scopes)) is true
   limit p_most
$$;

create function engram.lexeme_frequency(p_scopes bigint[], p_query tsquery, p_most integer) returns bigint
language sql stable strict security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
  select count(*) from (
    select from engram.memory_lexemes l
     where l.lexemes @@ p_query
       and (l.tenant_id = engram.current_tenant()) is true and (l.scope_id = any (p_scopes)) is true
     limit p_most) seen
$$;

revoke all on function engram.lexeme_matches, engram.lexeme_frequency from public;

grant execute on function engram.lexeme_matches, engram.lexeme_frequency to engram_app;

grant insert, update on engram.embedding_models, engram.memory_embeddings, engram.memory_lexemes, engram.memory_terms to engram_app;

grant insert on engram.memory_actors, engram.memory_graphs to engram_app;

grant delete on engram.memory_embeddings, engram.memory_lexemes, engram.memory_terms, engram.memory_actors,
  engram.memory_graphs to engram_app;
