-- Searching the ledger: the words of events, written by a job and never by an append. What is not here yet is read itself.
create table engram.event_lexemes (
  tenant_id text not null,
  scope_id bigint not null,
  stream_id uuid not null,
  position bigint not null check (position > 0),
  occurred_at timestamptz not null,
  lexemes tsvector not null,
  own_terms integer not null check (own_terms >= 0),
  primary key (tenant_id, stream_id, position)
);

comment on table engram.event_lexemes is
  'The words an event is found by, each with its scope: weight A what was said or done, D the engine''s own events.';

create index event_lexemes_words on engram.event_lexemes using gin (lexemes) with (gin_pending_list_limit = 256);

-- In a stream commits come in the order of positions, so one number says what has been read. A stream without a row has not
-- been begun: most are short and stand in small scopes, whose events are read themselves.
create table engram.event_readings (
  tenant_id text not null,
  scope_id bigint not null,
  stream_id uuid not null,
  position bigint not null check (position > 0),
  primary key (tenant_id, scope_id, stream_id)
);

comment on table engram.event_readings is 'Up to which position the words of a stream''s events are in event_lexemes.';

-- As with memories (0001, 060): `@@` is not leakproof, so these two read as the owner and name the tenant themselves; what
-- they return is joined with the events, which have the wall. Words are counted in the scopes that are named, no others.
create policy owner_reads on engram.event_lexemes for select to engram_owner using (true);

create function engram.event_matches(p_scopes bigint[], p_query tsquery, p_since timestamptz, p_until timestamptz, p_most integer)
returns table (stream_id uuid, "position" bigint, scope_id bigint, own_terms integer, lexemes tsvector)
language sql stable security definer rows 500
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
  select l.stream_id, l.position, l.scope_id, l.own_terms, l.lexemes
    from engram.event_lexemes l
   where l.lexemes @@ p_query
     and (l.tenant_id = engram.current_tenant()) is true and (l.scope_id = any (p_scopes)) is true
     and (p_since is null or l.occurred_at >= p_since) and (p_until is null or l.occurred_at < p_until)
   order by l.occurred_at desc
   limit p_most
$$;

comment on function engram.event_matches is 'The newest events of some scopes of this tenant whose words match, in a window.';

create function engram.event_frequency(p_scopes bigint[], p_query tsquery, p_most integer) returns bigint
language sql stable strict security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
  select count(*) from (
    select from engram.event_lexemes l
     where l.lexemes @@ p_query
       and (l.tenant_id = engram.current_tenant()) is true and (l.scope_id = any (p_scopes)) is true
     limit p_most) seen
$$;

comment on function engram.event_frequency is 'How many events of some scopes of this tenant hold a word, counted up to a number.';

revoke all on function engram.event_matches, engram.event_frequency from public;

grant execute on function engram.event_matches, engram.event_frequency to engram_app;

grant insert, delete on engram.event_lexemes to engram_app;

grant insert, update on engram.event_readings to engram_app;
