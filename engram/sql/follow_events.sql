-- Which events come after a place in a list over several streams, over the alias `e`; the reader fills in which way it goes.
(%(start_at)s::timestamptz IS NULL
            OR (e.recorded_at, e.stream_id, e.position) /*after*/ (%(start_at)s, %(start_stream)s::uuid, %(start_position)s::bigint))
