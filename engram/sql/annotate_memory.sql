-- Change attributes of a memory in place; NULL leaves an attribute as it is. A pin is in the core as long as it is one.
UPDATE engram.agent_memory
   SET memory_type = coalesce(%(memory_type)s, memory_type),
       category = coalesce(%(category)s, category),
       tags = coalesce(%(tags)s::text[], tags),
       source = coalesce(%(source)s, source),
       metadata = coalesce(%(metadata)s::jsonb, metadata),
       importance = coalesce(%(importance)s, importance),
       confidence = coalesce(%(confidence)s, confidence),
       critical_slot = CASE WHEN %(unpin)s THEN NULL ELSE coalesce(%(critical_slot)s, critical_slot) END,
       layer = CASE WHEN %(critical_slot)s::text IS NOT NULL THEN 'core'
                    WHEN %(unpin)s AND critical_slot IS NOT NULL AND layer = 'core' THEN 'working' ELSE layer END,
       private = coalesce(%(private)s, private),
       expires_at = CASE WHEN %(no_expiry)s THEN NULL
                         ELSE coalesce(%(expires_at)s::timestamptz, coalesce(%(at)s::timestamptz, clock_timestamp()) + %(expires_in)s::interval, expires_at) END
 WHERE tenant_id = %(tenant_id)s AND memory_id = %(memory_id)s::uuid
