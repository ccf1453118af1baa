-- What was said is in no statistics: ANALYZE keeps samples of columns, in the open, and an erasure does not reach them. Columns that hold
-- what somebody said, or what can be found out from it, are not sampled; they are found by their keys, and no plan needs them.
do $$
declare
  v_column record;
begin
  for v_column in
    select c.oid::regclass as name, a.attname
      from (values
        ('agent_memory', '{fact,fact_hash,main_content,category,tags,critical_slot,conflict_key,topic_key,subject,attribute,value,negates,source,'
                         'metadata,marks,actor}'),
        ('agent_events', '{actor,idempotency_key}'), ('agent_event_payloads', '{salt,body}'), ('agent_checkpoints', '{body}'),
        ('agent_sessions', '{outcome,metadata,summary}'), ('agent_task_runs', '{goal,outcome,metadata}'),
        ('event_lexemes', '{lexemes}'), ('memory_lexemes', '{lexemes}'), ('memory_terms', '{term}'), ('memory_actors', '{actor}'),
        ('memory_embeddings', '{embedding}'), ('memory_topics', '{name,centre}'), ('memory_sources', '{quote_hash}'),
        ('memory_changes', '{state,decision,reason,actor,because}'), ('memory_relations', '{metadata}'),
        ('relation_changes', '{metadata}'), ('memory_jobs', '{payload,error_text}'),
        ('lifecycle_runs', '{reason,actor,cycle}'), ('llm_calls', '{prompt,call_key,problems,answer}'),
        ('recall_log', '{query,words,plan,found}'), ('replay_steps', '{problem}')) t (name, columns)
      join pg_class r on r.relnamespace = 'engram'::regnamespace and r.relname = t.name
      join pg_class c on c.oid = r.oid or c.oid in (select i.inhrelid from pg_inherits i where i.inhparent = r.oid)
      join pg_attribute a on a.attrelid = c.oid and a.attname = any (t.columns::text[])
     order by c.oid, a.attnum
  loop
    execute format('alter table %s alter column %I set statistics 0', v_column.name, v_column.attname);
  end loop;
  -- The graphs of vectors are indexes of expressions, which are sampled like columns.
  for v_column in
    select c.oid::regclass as name
      from pg_class c
      join pg_am m on m.oid = c.relam and m.amname = 'hnsw'
     where c.relnamespace = 'engram'::regnamespace and c.relkind = 'i'
     order by c.oid
  loop
    execute format('alter index %s alter column 1 set statistics 0', v_column.name);
  end loop;
end $$;
