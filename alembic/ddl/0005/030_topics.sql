-- Topics: what the memories of a scope are about, as a named tree. All of it is made of the memories that are current now: it may be
-- dropped at any time and is made again, belongs to no shadow and to no export, and knows no past.
create table engram.memory_topic_trees (
  tenant_id text not null,
  scope_id bigint not null,
  generation bigint not null default 0,           -- one more for each change; what was read under another is not written
  model_id bigint,                                -- null: there is no tree
  rows integer not null default 0,                -- that it was made of
  score float8 not null default 0,
  changes integer not null default 0,             -- put in or taken out one by one since
  next_topic integer not null default 1,
  made_at timestamptz not null default clock_timestamp(),
  primary key (tenant_id, scope_id),
  foreign key (tenant_id, scope_id) references engram.memory_scopes
);

comment on table engram.memory_topic_trees is 'The tree of topics of each scope that has one, and how far it is behind.';

create table engram.memory_topics (
  tenant_id text not null,
  scope_id bigint not null,
  topic_id integer not null check (topic_id > 0), -- shown as kb1, kb2 …
  parent_id integer,
  name text not null check (char_length(name) between 1 and 60),
  trust smallint not null check (trust between 0 and 5),  -- the worst of the memories the name was made of
  named_by text not null check (char_length(named_by) between 1 and 200),
  named_members integer not null,                 -- how many members it had then
  private boolean not null default false,         -- whether the name was made of private memories
  members integer not null check (members >= 0),
  shown integer not null check (shown >= 0),      -- of these those that are not private
  centre halfvec,                                 -- of a leaf
  primary key (tenant_id, scope_id, topic_id),
  foreign key (tenant_id, scope_id) references engram.memory_topic_trees
);

comment on table engram.memory_topics is 'The topics of a scope: leaves, which have members, and inner topics, which have leaves.';

create table engram.memory_topic_members (
  tenant_id text not null,
  scope_id bigint not null,
  memory_id uuid not null,
  topic_id integer,                               -- null: in no tree at present
  linked boolean not null default false,          -- whether the nearest memories were looked for
  primary key (tenant_id, scope_id, memory_id)
);

create index memory_topic_members_topic on engram.memory_topic_members (tenant_id, scope_id, topic_id, memory_id);

create index memory_topic_members_unlinked on engram.memory_topic_members (tenant_id, scope_id, memory_id) where not linked;

comment on table engram.memory_topic_members is 'In which topic each memory is; a memory that is not current has no row, or soon none.';

grant insert, update, delete on engram.memory_topic_trees, engram.memory_topics, engram.memory_topic_members to engram_app;

-- What a run did to relations alone touches no memory, so that no change of one names it.
alter table engram.lifecycle_runs add column tied uuid[] not null default '{}';

comment on column engram.lifecycle_runs.tied is 'Its events that did nothing but relate memories.';
