-- Drop a shadow with all that was derived for it.
SELECT engram.drop_projection(%(shadow_id)s) AS memories
