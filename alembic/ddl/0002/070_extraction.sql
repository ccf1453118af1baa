-- What a language model made carries the model and the prompt: on the statement, since a model may also cite a memory that was there.
alter table engram.memory_sources
  add column model text check (octet_length(model) <= 200),
  add column prompt_hash text check (prompt_hash ~ '^[0-9a-f]{64}$');

comment on column engram.memory_sources.model is 'The language model that gave the statement; null for every other deriver.';

comment on column engram.memory_sources.prompt_hash is 'SHA-256 of the prompt file it was asked with, in hex.';

-- Relations that a deriver drew from an event go with what the event said.
create index memory_relations_event on engram.memory_relations (tenant_id, event_id) where event_id is not null;

grant delete on engram.memory_relations to engram_app;
