-- Whether relations write their own history in this transaction: those that bring one do not.
SELECT set_config('engram.seeding', %(quiet)s, true)
