-- Import: what was exported comes back as it was, in the tenant of whoever brings it. The application may write none of the ledger,
-- so these functions of its owner do. They too only append: a stream is new, an event follows the one before it in place and time,
-- a payload is the one its commitment was made of, and the chain is made here, for this tenant and scope. Only the transaction that
-- made a stream imports into it: into a conversation that is under way, nothing comes with a time of its own choosing.
alter table engram.event_streams add column imported_in xid8;

comment on column engram.event_streams.imported_in is 'The transaction that imported the stream; null for every other.';

create function engram.import_stream(p_scope bigint, p_stream uuid, p_kind text, p_name text, p_created timestamptz) returns void
language plpgsql security definer
set search_path = engram, pg_temp
as $$
declare
  v_tenant text := engram.current_tenant();
begin
  if v_tenant is null then
    raise exception 'no tenant is set' using errcode = '42501';
  end if;
  if p_scope < 1 or p_created > clock_timestamp() then
    raise exception 'a stream belongs to a live scope and begins before now' using errcode = '22000';
  end if;
  insert into event_streams (tenant_id, stream_id, scope_id, kind, name, created_at, imported_in)
    values (v_tenant, p_stream, p_scope, p_kind, p_name, p_created, pg_current_xact_id());
end $$;

comment on function engram.import_stream is 'Make a stream with the id and the beginning it had where it was exported; an error where it is there.';

create function engram.import_events(p_scope bigint, p_stream uuid, p_first bigint, p_events uuid[], p_roles text[], p_types text[],
  p_trusts smallint[], p_occurred timestamptz[], p_recorded timestamptz[], p_sessions text[], p_tasks uuid[], p_actors text[],
  p_keys text[], p_derive text[], p_commitments bytea[], p_salts bytea[], p_bodies bytea[], p_inner bytea, p_outer bytea) returns bigint
language plpgsql security definer
set search_path = engram, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant text := engram.current_tenant();
  v_head event_streams;
  v_item record;
  v_prev bytea;
  v_recorded timestamptz;
  v_derivable bigint;
  v_prevs bytea[] := '{}';
  v_hashes bytea[] := '{}';
begin
  if v_tenant is null then
    raise exception 'no tenant is set' using errcode = '42501';
  end if;
  if current_setting('synchronous_commit') not in ('on', 'remote_apply') then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  select s.* into v_head from event_streams s
   where s.tenant_id = v_tenant and s.stream_id = p_stream and s.scope_id = p_scope
     and s.imported_in = pg_current_xact_id()
     for no key update;
  if not found then
    raise exception 'no such stream was made in this transaction' using errcode = '22000';
  end if;
  if p_first <> v_head.position + 1 then
    raise exception 'events follow the head of their stream' using errcode = '22000';
  end if;
  v_prev := v_head.head_hash;
  v_recorded := coalesce(v_head.recorded_at, '-infinity');
  v_derivable := v_head.derivable;
  for v_item in
    select * from unnest(p_events, p_roles, p_types, p_trusts, p_occurred, p_recorded, p_sessions, p_tasks, p_actors, p_keys, p_derive,
        p_commitments, p_salts, p_bodies) with ordinality
      as n (event_id, role, type, trust, occurred, recorded, session, task, actor, key, derive, commitment, salt, body, place)
  loop
    if v_item.recorded < v_recorded or v_item.recorded > clock_timestamp() then
      raise exception 'events are recorded in the order of time, and before now' using errcode = '22000';
    end if;
    if (v_item.salt is null) <> (v_item.body is null)
       or (v_item.salt is not null and sha256(v_item.salt || v_item.body) <> v_item.commitment)
    then
      raise exception 'a payload is not the one its event was committed to' using errcode = '22000';
    end if;
    v_recorded := v_item.recorded;
    v_prevs := v_prevs || v_prev;
    v_prev := engram.event_hash(v_tenant, p_stream, v_head.position + v_item.place, v_item.event_id, p_scope, v_item.role,
      v_item.type, v_item.trust, v_item.occurred, v_item.recorded, v_item.session, v_item.task, v_item.actor, v_item.key,
      string_to_array(v_item.derive, ','), v_item.commitment, v_prev, p_inner, p_outer);
    v_hashes := v_hashes || v_prev;
    if v_item.derive <> '' then
      v_derivable := v_head.position + v_item.place;
    end if;
  end loop;
  insert into agent_events (tenant_id, stream_id, position, event_id, scope_id, role, event_type, trust, occurred_at, recorded_at,
      session_id, task_run_id, actor, idempotency_key, derive, hash_version, commitment, prev_hash, hash)
    select v_tenant, p_stream, v_head.position + n.place, n.event_id, p_scope, n.role, n.type, n.trust, n.occurred, n.recorded,
           n.session, n.task, n.actor, n.key, string_to_array(n.derive, ','), case when p_inner is null then 1 else 2 end,
           n.commitment, n.prev, n.hash
      from unnest(p_events, p_roles, p_types, p_trusts, p_occurred, p_recorded, p_sessions, p_tasks, p_actors, p_keys, p_derive,
             p_commitments, v_prevs, v_hashes) with ordinality
           as n (event_id, role, type, trust, occurred, recorded, session, task, actor, key, derive, commitment, prev, hash, place);
  insert into agent_event_payloads (tenant_id, stream_id, position, salt, body)
    select v_tenant, p_stream, v_head.position + n.place, n.salt, n.body
      from unnest(p_salts, p_bodies) with ordinality as n (salt, body, place)
     where n.salt is not null;
  update event_streams s
     set position = v_head.position + cardinality(p_events), head_hash = v_prev, recorded_at = v_recorded, derivable = v_derivable
   where s.tenant_id = v_tenant and s.stream_id = p_stream;
  return v_head.position + cardinality(p_events);
end $$;

comment on function engram.import_events is
  'Append events with the times they were recorded at to a stream imported in the same transaction; the new position of its head.';

-- The history of relations that have none yet, oldest first.
create function engram.import_relation_changes(p_sources uuid[], p_targets uuid[], p_types text[], p_recorded timestamptz[],
  p_holds timestamptz[], p_weights float8[], p_autos boolean[], p_metadata text[], p_ended boolean[], p_events uuid[]) returns void
language plpgsql security definer
set search_path = engram, pg_temp
as $$
declare
  v_tenant text := engram.current_tenant();
begin
  if v_tenant is null then
    raise exception 'no tenant is set' using errcode = '42501';
  end if;
  if exists (
    select from unnest(p_sources, p_targets, p_types) as n (source, target, type)
      join relation_changes c on c.tenant_id = v_tenant and c.source_id = n.source and c.target_id = n.target and c.relation_type = n.type)
  then
    raise exception 'a relation has a history already' using errcode = '22000';
  end if;
  insert into relation_changes (tenant_id, source_id, target_id, relation_type, recorded_at, holds_at, weight, auto, metadata, ended,
      event_id)
    select v_tenant, n.source, n.target, n.type, n.recorded, n.holds, n.weight, n.auto, n.metadata::jsonb, n.ended, n.event
      from unnest(p_sources, p_targets, p_types, p_recorded, p_holds, p_weights, p_autos, p_metadata, p_ended, p_events) with ordinality
           as n (source, target, type, recorded, holds, weight, auto, metadata, ended, event, place)
     order by n.place;
end $$;

comment on function engram.import_relation_changes is 'Write the history of imported relations, which must have none yet.';

revoke all on function engram.import_stream, engram.import_events, engram.import_relation_changes from public;

grant execute on function engram.import_stream, engram.import_events, engram.import_relation_changes to engram_app;
