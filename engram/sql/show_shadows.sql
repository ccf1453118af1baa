-- Let this transaction work on shadows.
SELECT set_config('engram.shadows', 'on', true)
