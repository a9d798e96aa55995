"""Every metric of the system, once. OpenTelemetry names where they exist, ours for the rest.

Dashboards and alert rules are written against this module; a metric that is not here does not exist.
"""

from prometheus_client import Counter, Gauge, Histogram

_SECONDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
_TOKENS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536)

# --- messaging ---------------------------------------------------------------------------------
PROCESS_SECONDS = Histogram(
    "messaging_process_duration_seconds",
    "Time one delivery spent in its handler, publishing included.",
    ["stage", "outcome"],  # outcome: ok | retried | dead_lettered
    buckets=_SECONDS,
)
DELIVERIES = Counter(
    "nuggetstream_deliveries_total", "Messages taken from the bus.", ["stage", "redelivered"]
)
DEAD_LETTERS = Counter("nuggetstream_dead_letters_total", "Messages given up on.", ["stage", "reason"])
IN_FLIGHT = Gauge("nuggetstream_in_flight", "Messages being handled now.", ["stage"])
OUTAGE_WAITING = Gauge(
    "nuggetstream_outage_waiting",
    "Messages held until the database or another service answers again.",
    ["stage"],
)
LAG = Gauge("nuggetstream_consumer_lag", "Messages waiting for this stage.", ["stage"])
LAG_AGE_SECONDS = Gauge(
    "nuggetstream_consumer_lag_age_seconds",
    "How long the latest message taken had waited in the stream before its first delivery.",
    ["stage"],
)
RECONNECTS = Counter("nuggetstream_bus_reconnects_total", "Reconnections to the broker.")

# --- battles -----------------------------------------------------------------------------------
BATTLES = Counter("nuggetstream_battles_total", "Battles by how they ended.", ["arena", "state"])
BATTLE_SECONDS = Histogram(
    "nuggetstream_battle_duration_seconds",
    "From submission to the last answer about a battle.",
    ["arena"],
    buckets=_SECONDS,
)
PAGES = Counter("nuggetstream_pages_total", "Source pages by what came of them.", ["quality"])
FLIPS = Counter("nuggetstream_judge_verdicts_total", "Verdicts, by whether order flipped them.", ["flipped"])

# --- language models ---------------------------------------------------------------------------
LLM_SECONDS = Histogram(
    "gen_ai_client_operation_duration_seconds",
    "Time one model call took, retries not included.",
    ["gen_ai_operation_name", "gen_ai_request_model", "stage", "outcome"],
    buckets=_SECONDS,
)
LLM_TOKENS = Histogram(
    "gen_ai_client_token_usage",
    "Tokens of one model call, discarded replies included.",
    ["gen_ai_token_type", "gen_ai_request_model", "stage"],
    buckets=_TOKENS,
)
LLM_CALLS = Counter(
    "nuggetstream_llm_calls_total",
    "Model calls by outcome: ok | cached | retried | failed.",
    ["stage", "model", "outcome"],
)
LLM_COST = Counter(
    "nuggetstream_llm_cost_total",
    "Money spent on model calls.",
    ["stage", "model", "currency", "source"],  # source: usage | estimate
)
LLM_CONCURRENCY = Gauge("nuggetstream_llm_concurrency_limit", "Model calls allowed at once now.", ["model"])
LLM_BUDGET_LEFT = Gauge(
    "nuggetstream_llm_budget_left",
    "What is left of today's budget, where one is set.",
    ["unit"],  # unit: tokens, or the currency
)
EMBEDDED = Counter(
    "nuggetstream_embedded_texts_total", "Texts asked for, by where the vector came from.", ["source"]
)
