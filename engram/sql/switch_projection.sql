-- Let a shadow and the live memories of its scope change places.
SELECT engram.switch_projection(%(shadow_id)s) AS memories
