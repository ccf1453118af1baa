-- Calls of language models: what each cost, held to a budget a tenant and day, and the answers that were paid for.
create table engram.llm_calls (
  tenant_id text not null,
  call_id uuid not null,
  scope_id bigint,
  job_id uuid,
  component text not null check (octet_length(component) between 1 and 64),
  model text not null check (octet_length(model) between 1 and 200),
  prompt text not null check (octet_length(prompt) between 1 and 64),
  prompt_version integer not null,
  prompt_hash text not null check (octet_length(prompt_hash) = 64),
  call_key bytea check (octet_length(call_key) = 32),
  day date not null,
  outcome text not null default 'pending' check (octet_length(outcome) between 1 and 64),
  problems text[] not null default '{}',
  reserved numeric not null check (reserved >= 0),
  cost numeric check (cost >= 0),
  estimated boolean not null default false,
  input_tokens bigint check (input_tokens >= 0),
  output_tokens bigint check (output_tokens >= 0),
  cached_tokens bigint check (cached_tokens >= 0),
  seconds double precision check (seconds >= 0),
  answer text check (octet_length(answer) <= 1048576),
  started_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  primary key (tenant_id, call_id),
  check ((outcome = 'pending') = (finished_at is null) and (outcome = 'pending') = (cost is null)),
  check (answer is null or outcome = 'ok')
) with (fillfactor = 70);

comment on table engram.llm_calls is
  'One row a call of a language model: its cost, its outcome, and the answer, so that a retry and a replay are free.';

create unique index llm_calls_answers on engram.llm_calls (tenant_id, call_key) where answer is not null;

create index llm_calls_started on engram.llm_calls (tenant_id, started_at);

create table engram.llm_call_events (
  tenant_id text not null,
  event_id uuid not null,
  call_id uuid not null,
  context boolean not null default false,         -- shown only so that others were understood: nothing was drawn from it
  primary key (tenant_id, event_id, call_id),
  foreign key (tenant_id, call_id) references engram.llm_calls
);

comment on table engram.llm_call_events is 'The events whose text a call of a language model was given: an erasure follows it.';

create index llm_call_events_call on engram.llm_call_events (tenant_id, call_id) where not context;

create table engram.llm_budgets (
  tenant_id text not null,
  day date not null,
  reserved numeric not null default 0 check (reserved >= 0),
  spent numeric not null default 0 check (spent >= 0),
  primary key (tenant_id, day)
) with (fillfactor = 50);

comment on table engram.llm_budgets is
  'What a tenant spent on language models in a day (UTC), and what calls under way may still spend.';

grant insert, update on engram.llm_calls, engram.llm_budgets to engram_app;

grant insert, delete on engram.llm_call_events to engram_app;

-- A call that was never settled counts as what it had reserved once it is ten minutes old, as it does for the budget.
create view engram.llm_costs with (security_invoker = true) as
select c.tenant_id, c.day, c.component, c.model, count(*) as calls, count(*) filter (where c.outcome = 'ok') as answered,
       coalesce(sum(c.input_tokens + c.output_tokens), 0)::bigint as tokens,
       coalesce(sum(coalesce(c.cost, case when c.started_at < clock_timestamp() - interval '10 minutes' then c.reserved end)),
                0) as cost,
       coalesce(sum(c.cached_tokens), 0)::bigint as cached
  from engram.llm_calls c
 group by c.tenant_id, c.day, c.component, c.model;
