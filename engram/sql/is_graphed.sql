-- Whether a scope has vectors of a model in the graph.
SELECT 1 FROM engram.memory_graphs g WHERE g.tenant_id = %(tenant_id)s AND g.scope_id = %(scope_id)s AND g.model_id = %(model_id)s
