-- Say of a negation that is put away whether it is moot: where it stands in the order of its lineage, or beside it.
UPDATE engram.agent_memory SET moot = %(moot)s
 WHERE tenant_id = %(tenant_id)s AND memory_id = %(memory_id)s::uuid
