-- What an event asked to be done with one memory, named by its id: null where it asked for something else, or is erased.
create function engram.asked_of_a_memory(p_tenant_id text, p_event_id uuid) returns jsonb
language sql stable
as $$
  select said.request
    from (select convert_from(p.body, 'UTF8')::jsonb #> '{payload,request}' as request
            from engram.agent_events e
            join engram.agent_event_payloads p
              on p.tenant_id = e.tenant_id and p.stream_id = e.stream_id and p."position" = e."position"
           where e.tenant_id = p_tenant_id and e.event_id = p_event_id
             and e.event_type like 'memory\_%' and e.event_type <> 'memory_lifecycle'
          offset 0) said
   where said.request ? 'memory_id'
$$;

comment on function engram.asked_of_a_memory is 'What an event asked to be done with one memory, if it asked for that and is not erased.';

-- The words that a memory, or a kept state of one, has beside its text, one by one: a row has more of them than a state.
create function engram.words_of(p_state jsonb) returns table (name text, value jsonb)
language sql immutable parallel safe
as $$
  select 'tags', t.tag from jsonb_array_elements(p_state -> 'tags') t(tag)
   union all
  select f.name, p_state -> f.name
    from unnest('{metadata,source,category,critical_slot,main_content,topic_key,subject,attribute,value,conflict_key}'::text[]) f(name)
   where p_state ->> f.name is not null and p_state -> f.name not in ('{}', '"verbatim"', '"source_chunk"')
$$;

comment on function engram.words_of is 'The words that a memory, or a kept state of one, has beside its text, each with the name of its column.';

-- The same without some of these words, each given as [name, value].
create function engram.without_words(p_state jsonb, p_lost jsonb) returns jsonb
language sql immutable parallel safe
as $$
  select p_state
      || jsonb_build_object('tags', (
           select coalesce(jsonb_agg(t.tag order by t.place), '[]')
             from jsonb_array_elements(p_state -> 'tags') with ordinality t(tag, place)
            where jsonb_build_array('tags', t.tag) not in (select l.word from jsonb_array_elements(p_lost) l(word))))
      || coalesce((
           select jsonb_object_agg(w.name, case w.name when 'metadata' then '{}'::jsonb else 'null' end)
             from engram.words_of(p_state) w
            where w.name <> 'tags' and jsonb_build_array(w.name, w.value) in (select l.word from jsonb_array_elements(p_lost) l(word))), '{}')
$$;

comment on function engram.without_words is 'A memory, or a kept state of one, without some words, each given as [name, value].';

-- The second look, as before; and events that changed an erased memory by its id, or its text by an edit, for they repeat it.
create or replace function engram.scan_erased(p_events uuid[], p_memories uuid[])
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
    join agent_events e on e.tenant_id = c.tenant_id and e.event_id = c.event_id and e.event_type = 'memory_lifecycle'
    join agent_event_payloads p on p.tenant_id = e.tenant_id and p.stream_id = e.stream_id and p."position" = e."position"
   where c.tenant_id = v_tenant and c.memory_id = any (v_gone)
     and convert_from(p.body, 'UTF8')::jsonb #>> '{payload,reason}' is not null;
  return next;
  place := 'changes';
  with line as (
    select m.memory_id, m.scope_id, m.memory_id = any (v_gone) as is_gone
      from agent_memory m
     where m.tenant_id = v_tenant
       and m.lineage_id in (select g.lineage_id from agent_memory g where g.tenant_id = v_tenant and g.memory_id = any (v_gone))),
  named as (
    select o.event_id, case when o.entry in ('revised', 'reinforced') then 'text' else 'rest' end as what
      from line join memory_changes o on o.tenant_id = v_tenant and o.memory_id = line.memory_id
     where o.entry = 'revised' and o.previous_id = any (v_gone)
        or line.is_gone and o.entry in ('reinforced', 'forgotten', 'restored', 'ended', 'annotated')
     union
    select f.event_id, f.what
      from (select e.event_id, case e.event_type when 'memory_rejected' then 'text' else 'rest' end as what
              from agent_events e
             where e.tenant_id = v_tenant and e.scope_id in (select line.scope_id from line)
               and e.event_type in ('memory_annotated', 'memory_ended', 'memory_forgotten', 'memory_restored', 'memory_rejected')
             union all
            select m.event_id, 'evidence'
              from agent_memory m
             where m.tenant_id = v_tenant and m.scope_id in (select line.scope_id from line)
               and m.deriver is null and m.category in ('verbatim', 'source_chunk')) f
      join (select right(line.memory_id::text, 8) as ending, bool_or(line.is_gone) as is_gone from line group by 1) known
        on known.ending = right(engram.asked_of_a_memory(v_tenant, f.event_id) ->> 'memory_id', 8)
       and (known.is_gone or f.what = 'text'))
  select count(distinct c.event_id) into n
    from named c
   cross join lateral engram.asked_of_a_memory(v_tenant, c.event_id) a(asked)
   where case c.what when 'text' then jsonb_typeof(a.asked -> 'fact') <> 'string' when 'rest' then not a.asked ? 'fact'
              else a.asked is not null end;
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
