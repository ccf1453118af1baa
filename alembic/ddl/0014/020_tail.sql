-- The newest events of some scopes that a deriver has not come to yet and that no memory rests on: of the streams that wait, those that
-- were appended to last, and of each its newest events, up to a bound in all. A bound of nothing looks at nothing.
create function engram.tail_events(p_tenant_id text, p_scope_ids bigint[], p_derivers text[], p_versions integer[], p_most integer)
returns table (
  place bigint, stream_id text, "position" bigint, event_id text, scope_id bigint, role text, event_type text, trust smallint,
  occurred_at timestamptz, recorded_at timestamptz, session_id text, task_run_id text, actor text, hash bytea, body bytea)
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  if p_most < 1 then
    return;
  end if;
  return query
  with waiting as materialized (
    select s.stream_id, s.derived, s.derivable, s.recorded_at
      from engram.waiting_streams(p_tenant_id, p_scope_ids, '{session,task,scope}') s
     order by s.recorded_at desc, s.stream_id
     limit p_most),
  started as materialized (
    select w.stream_id, w.derivable, w.recorded_at, min(d.position) as slowest, array_agg(r.name) as names, array_agg(d.position) as positions
      from waiting w
     cross join unnest(p_derivers, p_versions) r (name, version)
     cross join lateral (
           select greatest(w.derived, max(x.position)) as position
             from engram.derivations x
            where x.tenant_id = p_tenant_id and x.stream_id = w.stream_id and x.deriver = r.name and x.version <= r.version) d
     group by w.stream_id, w.derivable, w.recorded_at),
  bounded as materialized (
    select s.stream_id, s.derivable, s.slowest, s.names, s.positions,
           sum(least(s.derivable - s.slowest, p_most)) over (order by s.recorded_at desc, s.stream_id) - least(s.derivable - s.slowest, p_most)
             as before
      from started s
     where s.derivable > s.slowest)
  select row_number() over (order by e.recorded_at desc, e.stream_id, e.position desc), e.stream_id::text, e.position, e.event_id::text,
         e.scope_id, e.role, e.event_type, e.trust, e.occurred_at, e.recorded_at, e.session_id, e.task_run_id::text, e.actor, e.hash, e.body
    from bounded b
   cross join lateral (
         select x.stream_id, x.position, x.event_id, x.scope_id, x.role, x.event_type, x.trust, x.occurred_at, x.recorded_at,
                x.session_id, x.task_run_id, x.actor, x.hash, p.body
           from engram.agent_events x
          cross join lateral (
                select q.body
                  from engram.agent_event_payloads q
                 where q.tenant_id = p_tenant_id and q.stream_id = b.stream_id and q.position = x.position
                 limit 1) p
          where x.tenant_id = p_tenant_id and x.stream_id = b.stream_id and x.position > b.slowest and x.position <= b.derivable
            and exists (select from unnest(b.names, b.positions) d (name, position)
                         where d.name = any (x.derive) and x.position > d.position)
            and (select true from engram.agent_memory m where m.tenant_id = x.tenant_id and m.event_id = x.event_id limit 1) is null
            and (x.task_run_id is null
                 or (select h.forgotten_at from engram.agent_task_runs h
                      where h.tenant_id = x.tenant_id and h.task_run_id = x.task_run_id) is null)
          order by x.position desc
          limit p_most) e
   where b.before < 10 * p_most
   order by 1
   limit p_most;
end $$;

comment on function engram.tail_events is 'The newest events of some scopes that a deriver has not come to yet and that no memory rests on.';

revoke all on function engram.tail_events from public;

grant execute on function engram.tail_events to engram_app;

-- What a search must know before it can be made, and behind it the newest events that wait, a row each: what the scopes say is in the
-- first row alone. So what was said a moment ago costs no message of its own.
create function engram.look_with_tail(p_tenant_id text, p_scope_ids bigint[], p_words text[], p_config text, p_most integer,
  p_derivers text[], p_versions integer[], p_tail integer)
returns table (
  now timestamptz, size bigint, actors text[], graphed bigint[], model_id bigint, config text, words jsonb, marks jsonb,
  place bigint, stream_id text, "position" bigint, event_id text, scope_id bigint, role text, event_type text, trust smallint,
  occurred_at timestamptz, recorded_at timestamptz, session_id text, task_run_id text, actor text, hash bytea, body bytea)
language plpgsql stable rows 1
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  select q.now, q.size, case when f.first then q.actors end, q.graphed, q.model_id, q.config, case when f.first then q.words end,
         case when f.first then q.marks end, t.*
    from engram.look_at_question(p_tenant_id, p_scope_ids, p_words, p_config, p_most, p_derivers, p_versions) q
    left join lateral engram.tail_events(
           p_tenant_id, p_scope_ids, p_derivers, p_versions,
           case when jsonb_path_exists(q.marks, '$[*][3] ? (@ > 0)') then p_tail else 0 end) t on true
   cross join lateral (select coalesce(t.place, 1) = 1 as first offset 0) f
   order by t.place;
end $$;

comment on function engram.look_with_tail is 'What a search must know before it can be made, and the newest events that wait for derivers.';

revoke all on function engram.look_with_tail from public;

grant execute on function engram.look_with_tail to engram_app;
