-- Fill a new shadow with the live memories as they were known when it begins.
SELECT engram.seed_projection(%(shadow_id)s) AS memories
