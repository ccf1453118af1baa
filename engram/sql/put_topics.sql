-- Write topics of a scope, new ones and ones that change.
INSERT INTO engram.memory_topics AS t (tenant_id, scope_id, topic_id, parent_id, name, trust, named_by, named_members, private,
    members, shown, centre)
SELECT %(tenant_id)s, %(scope_id)s, s.topic_id, s.parent_id, s.name, s.trust, s.named_by, s.named_members, s.private,
       s.members, s.shown, s.centre::halfvec
  FROM jsonb_to_recordset(%(topics)s::jsonb) s(topic_id integer, parent_id integer, name text, trust smallint, named_by text,
       named_members integer, private boolean, members integer, shown integer, centre text)
    ON CONFLICT (tenant_id, scope_id, topic_id) DO UPDATE
    SET parent_id = excluded.parent_id, name = excluded.name, trust = excluded.trust, named_by = excluded.named_by,
        named_members = excluded.named_members, private = excluded.private, members = excluded.members, shown = excluded.shown,
        centre = excluded.centre
