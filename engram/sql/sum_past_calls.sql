-- What calls of language models that read the events of a time have taken, by component: what a policy that asks again would take.
SELECT c.component, count(*)::integer AS calls, sum(coalesce(c.cost, c.reserved)) AS cost
  FROM engram.llm_calls c
 WHERE c.tenant_id = %(tenant_id)s AND c.scope_id = %(scope_id)s AND c.component = ANY(%(components)s)
   AND (%(since)s::timestamptz IS NULL OR c.started_at > %(since)s::timestamptz)
   AND (%(until)s::timestamptz IS NULL OR c.started_at < %(until)s::timestamptz)
 GROUP BY c.component
