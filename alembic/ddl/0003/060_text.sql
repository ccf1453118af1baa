-- How the words of a tenant's memories are read: one text search configuration a tenant, whatever a process is set to.
create table engram.text_search_configs (
  tenant_id text primary key,
  config text not null check (char_length(config) between 1 and 127),
  changed_at timestamptz not null default clock_timestamp()
);

comment on table engram.text_search_configs is 'The text search configuration of a tenant: how its words are stemmed and which are left out.';

grant insert, update on engram.text_search_configs to engram_app;

grant delete on engram.event_readings to engram_app;
