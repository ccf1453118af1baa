-- The tenant's models in use or being built; they stay so until the end of this transaction.
SELECT h.model_id, h.name, h.dimensions, h.state, h.thresholds, h.probed FROM engram.hold_models() h
