-- What a search must know of its scopes, of the words of its question there, and of how far each deriver has come, at once.
SELECT s.now, s.size, s.actors, s.graphed, s.model_id, s.config,
       (SELECT coalesce(jsonb_agg(jsonb_build_array(w.word, w.lexeme, w.df)), '[]') FROM (/*words*/) w) AS words,
       (SELECT jsonb_agg(jsonb_build_array(d.streams, d.stream_id, d.head, d.behind)) FROM (/*marks*/) d) AS marks
  FROM (/*scopes*/) s
