-- Whose turn something is that only one process may do at a time: a lease by the clock of the database, behind any pooler.
create table engram.turns (
  tenant_id text not null,
  name text not null check (octet_length(name) between 1 and 64),
  holder uuid not null,
  until timestamptz not null,
  primary key (tenant_id, name)
) with (fillfactor = 50);

comment on table engram.turns is 'Whose turn something is that only one process may do at a time, and until when.';

grant insert, update on engram.turns to engram_app;
