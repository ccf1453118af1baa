-- Erasure: the rest of whole scopes, and the second look for what should be gone.

-- Whether a state that the history keeps of a memory holds words of somebody's.
create function engram.state_says(p_state jsonb) returns boolean
language sql immutable parallel safe
as $$
  select coalesce(p_state -> 'tags' <> '[]', false) or coalesce(p_state -> 'metadata' <> '{}', false)
      or coalesce(p_state -> 'marks' <> '{}', false) or p_state ->> 'source' is not null or p_state ->> 'critical_slot' is not null
      or coalesce(p_state ->> 'category' not in ('verbatim', 'source_chunk'), false)
$$;

comment on function engram.state_says is 'Whether a state that the history keeps of a memory holds words of somebody''s.';

-- Whether a change says more than that, and of a redaction its reason.
create function engram.change_says(c engram.memory_changes) returns boolean
language sql stable parallel safe
as $$
  select c.decision is not null or c.because is not null or engram.state_says(c.state)
      or c.reason is not null and not exists (
           select from engram.agent_events e
            where e.tenant_id = c.tenant_id and e.event_id = c.event_id and e.event_type = 'redaction')
$$;

comment on function engram.change_says is 'Whether a change in the history of a memory still says something of it; the reason of a redaction stays.';

-- The topics of scopes whose memories are erased: names and centres were made of them. A tree is made again by the next cycle;
-- whoever is naming one at this moment finds another generation.
create function engram.erase_topics(p_memories uuid[], p_scopes bigint[]) returns bigint
language plpgsql
set search_path = engram, pg_temp
as $$
declare
  v_tenant text := engram.current_tenant();
  v_scopes bigint[];
  v_erased bigint;
begin
  select array_agg(distinct b.scope_id) into v_scopes
    from memory_topic_members b
   where b.tenant_id = v_tenant and (b.scope_id = any (p_scopes) or b.memory_id = any (p_memories)
     and b.scope_id in (select m.scope_id from agent_memory m where m.tenant_id = v_tenant and m.memory_id = any (p_memories)));
  v_scopes := v_scopes || p_scopes;
  if v_scopes is null then
    return 0;
  end if;
  update memory_topic_trees t set generation = t.generation + 1, model_id = null, rows = 0, score = 0, changes = 0
   where t.tenant_id = v_tenant and t.scope_id = any (v_scopes) and t.model_id is not null;
  delete from memory_topics o where o.tenant_id = v_tenant and o.scope_id = any (v_scopes);
  get diagnostics v_erased = row_count;
  update memory_topic_members b set topic_id = null
   where b.tenant_id = v_tenant and b.scope_id = any (v_scopes) and b.topic_id is not null;
  delete from memory_topic_members b
   where b.tenant_id = v_tenant and b.scope_id = any (v_scopes) and (b.memory_id = any (p_memories) or b.scope_id = any (p_scopes));
  return v_erased;
end $$;

comment on function engram.erase_topics is 'Drop the topics of scopes that hold memories which are erased; how many topics.';

-- The rest of scopes whose events are all erased: what hangs on a scope and on no single event. Some rows at a time; how many of
-- each kind there were.
create function engram.erase_scopes(p_scopes bigint[], p_empty bytea, p_limit integer)
returns table (kind text, n bigint)
language plpgsql
set search_path = engram, pg_temp
as $$
declare
  v_tenant text := engram.current_tenant();
begin
  kind := 'memories';
  with gone as (
    select m.memory_id from agent_memory m
     where m.tenant_id = v_tenant and m.scope_id = any (p_scopes) and m.status_reason is distinct from 'erased'
     limit p_limit)
  update agent_memory m
     set fact = '', fact_hash = p_empty, main_content = null, category = null, tags = '{}', metadata = '{}', marks = '{}',
         topic_key = null, subject = null, attribute = null, value = null, negates = null, critical_slot = null, conflict_key = null,
         source = null, surprise = null, status = 'deleted', status_reason = 'erased', embed_state = 'none'
    from gone where m.tenant_id = v_tenant and m.memory_id = gone.memory_id;
  get diagnostics n = row_count; return next;
  kind := 'vectors';
  delete from memory_embeddings e where e.tenant_id = v_tenant and e.scope_id = any (p_scopes);
  get diagnostics n = row_count; return next;
  kind := 'words';
  delete from memory_lexemes l where l.tenant_id = v_tenant and l.scope_id = any (p_scopes);
  get diagnostics n = row_count; return next;
  kind := 'terms';
  delete from memory_terms t where t.tenant_id = v_tenant and t.scope_id = any (p_scopes);
  get diagnostics n = row_count; return next;
  kind := 'speakers';
  delete from memory_actors a where a.tenant_id = v_tenant and a.scope_id = any (p_scopes);
  get diagnostics n = row_count; return next;
  kind := 'recalls';
  with gone as (
    select l.recall_id from recall_log l where l.tenant_id = v_tenant and l.scope_id = any (p_scopes) limit p_limit)
  delete from recall_log l using gone where l.tenant_id = v_tenant and l.recall_id = gone.recall_id;
  get diagnostics n = row_count; return next;
  kind := 'questions';
  update recall_log l
     set query = null, words = '{}', plan = l.plan - array['filter', 'variants', 'queries', 'question']
   where l.tenant_id = v_tenant and l.scope_ids && p_scopes and l.query is not null;
  get diagnostics n = row_count; return next;
  kind := 'sessions';
  update agent_sessions s
     set metadata = '{}', summary = null, summarised_at = null, summary_style = null, summary_by = null, summary_prompt = null,
         redactions = s.redactions + 1
   where s.tenant_id = v_tenant and s.scope_id = any (p_scopes) and (s.metadata <> '{}' or s.summary is not null);
  get diagnostics n = row_count; return next;
  kind := 'tasks';
  update agent_task_runs t set goal = '', outcome = null, metadata = '{}'
   where t.tenant_id = v_tenant and t.scope_id = any (p_scopes)
     and (t.goal <> '' or t.outcome is not null or t.metadata <> '{}');
  get diagnostics n = row_count; return next;
  kind := 'checkpoints';
  update agent_checkpoints c set body = null
   where c.tenant_id = v_tenant and c.scope_id = any (p_scopes) and c.body is not null;
  get diagnostics n = row_count; return next;
  kind := 'answers';
  update llm_calls c set answer = null, call_key = null, problems = '{}'
   where c.tenant_id = v_tenant and c.scope_id = any (p_scopes)
     and (c.answer is not null or c.call_key is not null or c.problems <> '{}');
  get diagnostics n = row_count; return next;
  kind := 'job_texts';
  update memory_jobs j set error_text = null
   where j.tenant_id = v_tenant and j.scope_id = any (p_scopes) and j.error_text is not null;
  get diagnostics n = row_count; return next;
  kind := 'decisions';
  with gone as (
    select c.change_id from memory_changes c
     where c.tenant_id = v_tenant and c.scope_id = any (p_scopes)
       and engram.change_says(c)
     limit p_limit)
  update memory_changes c
     set decision = null, reason = null, because = null,
         state = c.state - '{tags,metadata,source,critical_slot,category,marks}'::text[]
    from gone where c.tenant_id = v_tenant and c.change_id = gone.change_id;
  get diagnostics n = row_count; return next;
  kind := 'topics';
  n := engram.erase_topics('{}', p_scopes); return next;
  kind := 'runs';
  update lifecycle_runs r set reason = null
   where r.tenant_id = v_tenant and r.scope_id = any (p_scopes) and r.reason is not null;
  get diagnostics n = row_count; return next;
end $$;

comment on function engram.erase_scopes is 'Empty what hangs on scopes and on no single event, some rows at a time; how many of each kind.';

grant update (because) on engram.memory_changes to engram_app;

-- Where ids of erased events and memories may stay: they say nothing, and the chain, the lineages and the history need them.
-- A table or a column that nobody thought of is counted as a remainder until it is named here.
create function engram.keeps_ids(p_place text) returns boolean
language sql immutable
as $$
  select p_place = any (array[
    'agent_events.event_id', 'agent_memory.memory_id', 'agent_memory.event_id', 'agent_memory.lineage_id',
    'agent_memory.superseded_by', 'agent_memory.consolidated_into', 'agent_memory.stands_event_id', 'memory_sources.memory_id',
    'memory_sources.event_id', 'memory_activity.memory_id', 'memory_changes.memory_id', 'memory_changes.event_id',
    'memory_changes.previous_id', 'agent_task_runs.event_id', 'agent_task_runs.outcome_event_id',
    'agent_task_runs.metadata_event_id', 'agent_task_runs.task_run_id', 'agent_checkpoints.event_id',
    'agent_checkpoints.checkpoint_id', 'agent_checkpoints.source_event_ids', 'llm_call_events.event_id', 'replay_steps.event_id',
    'recall_log.chosen', 'memory_relations.event_id', 'relation_changes.event_id', 'lifecycle_runs.undone_by', 'lifecycle_runs.parent_id',
    'lifecycle_runs.tied', 'memory_feedback.memory_ids'])
$$;

comment on function engram.keeps_ids is 'Whether a column, named table.column, may hold ids of what was erased.';

-- The second look: every column of ids of every table, and every column of words of the rows that stay as empty places.
create function engram.scan_erased(p_events uuid[], p_memories uuid[])
returns table (place text, n bigint)
language plpgsql stable
set search_path = engram, pg_temp
as $$
declare
  v_tenant text := engram.current_tenant();
  v_ids uuid[] := p_events || p_memories;
  v_gone uuid[];
  v_column record;
begin
  for v_column in
    select c.relname::text as relation, a.attname::text as name, a.atttypid = 'uuid[]'::regtype as listed
      from pg_class c
      join pg_namespace s on s.oid = c.relnamespace and s.nspname = 'engram'
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
                         and a.atttypid in ('uuid'::regtype, 'uuid[]'::regtype)
     where c.relkind in ('r', 'p') and not c.relispartition
       and exists (select from pg_attribute t where t.attrelid = c.oid and t.attname = 'tenant_id')
     order by 1, 2
  loop
    place := v_column.relation || '.' || v_column.name;
    continue when engram.keeps_ids(place);
    -- The ties of a lineage stay between its empty places.
    execute format('select count(*) from engram.%1$I t where t.tenant_id = $1 and t.%2$I %3$s%4$s', v_column.relation, v_column.name,
      case when v_column.listed then '&& $2' else '= any ($2)' end,
      case when v_column.relation in ('memory_relations', 'relation_changes')
           then ' and t.relation_type not in (''supersedes'', ''revision_of'')' else '' end)
      into n using v_tenant, v_ids;
    return next;
  end loop;
  place := 'agent_event_payloads';
  select count(*) into n from agent_events e join agent_event_payloads p using (tenant_id, stream_id, "position")
   where e.tenant_id = v_tenant and e.event_id = any (p_events);
  return next;
  place := 'event_lexemes';
  select count(*) into n from agent_events e join event_lexemes p using (tenant_id, stream_id, "position")
   where e.tenant_id = v_tenant and e.event_id = any (p_events);
  return next;
  place := 'agent_memory';
  select count(*) into n from agent_memory m
   where m.tenant_id = v_tenant and (m.memory_id = any (p_memories) or m.event_id = any (p_events))
     and (m.fact <> '' or m.main_content is not null or m.tags <> '{}' or m.metadata <> '{}' or m.marks <> '{}'
       or m.category not in ('verbatim', 'source_chunk')
       or coalesce(m.topic_key, m.subject, m.attribute, m.value, m.negates, m.critical_slot, m.conflict_key, m.source) is not null);
  return next;
  place := 'memory_sources';
  select count(*) into n from memory_sources q
   where q.tenant_id = v_tenant and q.event_id = any (p_events) and q.verified;
  return next;
  place := 'memory_changes';
  select count(*) into n from memory_changes c
   where c.tenant_id = v_tenant
     and (c.memory_id = any (p_memories)
            and engram.change_says(c)
          or c.event_id = any (p_events) and (c.reason is not null or c.decision ->> 'fact' is not null));
  return next;
  v_gone := p_memories || array(select m.memory_id from agent_memory m where m.tenant_id = v_tenant and m.event_id = any (p_events));
  place := 'lifecycle_runs';
  select count(*) into n from lifecycle_runs r
   where r.tenant_id = v_tenant and r.reason is not null
     and (r.run_id in (select c.run_id from memory_changes c where c.tenant_id = v_tenant and c.memory_id = any (v_gone))
          or r.run_id in (select f.run_id from memory_feedback f where f.tenant_id = v_tenant and f.memory_ids && v_gone));
  return next;
  place := 'reasons';
  select count(distinct e.event_id) into n
    from memory_changes c
    join agent_events e on e.tenant_id = c.tenant_id and e.event_id = c.event_id
    join agent_event_payloads p on p.tenant_id = e.tenant_id and p.stream_id = e.stream_id and p."position" = e."position"
   where c.tenant_id = v_tenant and c.memory_id = any (v_gone)
     and (e.event_type = 'memory_lifecycle' or c.entry in ('forgotten', 'restored', 'ended') and e.event_type like 'memory\_%')
     and convert_from(p.body, 'UTF8')::jsonb #>> '{payload,reason}' is not null;
  return next;
  place := 'agent_checkpoints';
  select count(*) into n from agent_checkpoints c
   where c.tenant_id = v_tenant and c.body is not null and (c.event_id = any (p_events) or c.source_event_ids && p_events);
  return next;
  place := 'agent_task_runs';
  select count(*) into n from agent_task_runs t
   where t.tenant_id = v_tenant
     and (t.event_id = any (p_events) and t.goal <> '' or t.outcome_event_id = any (p_events) and t.outcome is not null
          or t.metadata_event_id = any (p_events) and t.metadata <> '{}');
  return next;
  place := 'llm_calls';
  select count(*) into n from llm_call_events e join llm_calls c using (tenant_id, call_id)
   where e.tenant_id = v_tenant and e.event_id = any (p_events) and (c.answer is not null or c.call_key is not null);
  return next;
end $$;

comment on function engram.scan_erased is 'Look again for erased events and memories in every table; how many rows still hold something of them.';

-- The second look at whole scopes: what still says something there. Tables nobody thought of are counted whole.
create function engram.scan_scopes(p_scopes bigint[])
returns table (place text, n bigint)
language plpgsql stable
set search_path = engram, pg_temp
as $$
declare
  v_tenant text := engram.current_tenant();
  v_words jsonb := jsonb_build_object(
    'agent_events', 'exists (select from engram.agent_event_payloads p where p.tenant_id = t.tenant_id'
      || ' and p.stream_id = t.stream_id and p.position = t.position) and t.event_type <> ''redaction''',
    'agent_memory', 't.status_reason is distinct from ''erased'' or t.fact <> ''''',
    'memory_changes', 'engram.change_says(t)',
    'agent_sessions', 't.metadata <> ''{}'' or t.summary is not null',
    'agent_task_runs', 't.goal <> '''' or t.outcome is not null or t.metadata <> ''{}''',
    'agent_checkpoints', 't.body is not null', 'llm_calls', 't.answer is not null or t.call_key is not null',
    'memory_jobs', 't.error_text is not null', 'lifecycle_runs', 't.reason is not null',
    'memory_scopes', 'false', 'event_streams', 'false', 'memory_activity', 'false', 'memory_graphs', 'false',
    'memory_replays', 'false', 'event_readings', 'false', 'memory_topic_trees', 't.model_id is not null',
    'memory_feedback', 'false');
  v_table record;
begin
  for v_table in
    select c.relname::text as name
      from pg_class c
      join pg_namespace s on s.oid = c.relnamespace and s.nspname = 'engram'
     where c.relkind in ('r', 'p') and not c.relispartition
       and 2 = (select count(*) from pg_attribute a
                 where a.attrelid = c.oid and a.attname in ('tenant_id', 'scope_id') and not a.attisdropped)
     order by 1
  loop
    place := v_table.name;
    execute format('select count(*) from engram.%I t where t.tenant_id = $1 and t.scope_id = any ($2) and (%s)',
      v_table.name, coalesce(v_words ->> v_table.name, 'true')) into n using v_tenant, p_scopes;
    return next;
  end loop;
end $$;

comment on function engram.scan_scopes is 'Look again at whole scopes that were erased; how many rows of each table still say something.';
