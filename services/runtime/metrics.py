"""All metrics of the system, with OpenTelemetry names where they exist.

Dashboards and alert rules may use only the metrics of this module.
"""

from prometheus_client import Counter, Gauge, Histogram

_SECONDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
_TOKENS = (1, 4, 16, 64, 256, 1024, 4096, 16384, 65536)

# --- messaging ---------------------------------------------------------------------------------
PROCESS_SECONDS = Histogram(
    "messaging_process_duration_seconds",
    "Seconds that one delivery took to handle, publishing included.",
    ["stage", "outcome"],  # outcome: ok | retried | dead_lettered
    buckets=_SECONDS,
)
DELIVERIES = Counter(
    "nuggetstream_deliveries_total", "Deliveries received from the broker.", ["stage", "redelivered"]
)
DEAD_LETTERS = Counter(
    "nuggetstream_dead_letters_total", "Messages given up and sent to the dead letters.", ["stage", "reason"]
)
IN_FLIGHT = Gauge("nuggetstream_in_flight", "Messages being handled now.", ["stage"])
OUTAGE_WAITING = Gauge(
    "nuggetstream_outage_waiting",
    "Messages kept in flight until the database or another service answers again.",
    ["stage"],
)
LAG = Gauge("nuggetstream_consumer_lag", "Messages waiting for this stage.", ["stage"])
LAG_AGE_SECONDS = Gauge(
    "nuggetstream_consumer_lag_age_seconds",
    "Seconds that the latest message received had waited in the stream before its first delivery.",
    ["stage"],
)
RECONNECTS = Counter("nuggetstream_bus_reconnects_total", "Reconnections to the broker.")
STREAM_BYTES = Gauge("nuggetstream_stream_bytes", "Bytes that a stream of the broker uses.", ["stream"])
STREAM_BYTES_LEFT = Gauge(
    "nuggetstream_stream_bytes_left", "Bytes until a stream of the broker is full.", ["stream"]
)
BROKER_RESTARTS = Counter(
    "nuggetstream_broker_restarts_total",
    "Restarts of embedded mode's broker, which had ended or could not write.",
)

# --- battles -----------------------------------------------------------------------------------
BATTLES = Counter("nuggetstream_battles_total", "Battles that ended, by final state.", ["arena", "state"])
BATTLE_SECONDS = Histogram(
    "nuggetstream_battle_duration_seconds",
    "Seconds from the submission of a battle to its last result.",
    ["arena"],
    buckets=_SECONDS,
)
PAGES = Counter("nuggetstream_pages_total", "Source pages by quality class.", ["quality"])
FLIPS = Counter(
    "nuggetstream_judge_verdicts_total",
    "Verdicts of judges, by whether the order of the answers flipped them.",
    ["flipped"],
)

# --- language models ---------------------------------------------------------------------------
LLM_SECONDS = Histogram(
    "gen_ai_client_operation_duration_seconds",
    "Seconds that one model call took, retries not included.",
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
    "Model calls by outcome: ok, cached, retried or failed.",
    ["stage", "model", "outcome"],
)
LLM_COST = Counter(
    "nuggetstream_llm_cost_total",
    "Money spent on model calls.",
    ["stage", "model", "currency", "source"],  # source: usage | estimate
)
LLM_CONCURRENCY = Gauge(
    "nuggetstream_llm_concurrency_limit", "Number of model calls that may run at once now.", ["model"]
)
LLM_CIRCUIT_OPEN = Gauge(
    "nuggetstream_llm_circuit_open",
    "Circuits to a model that are open, because the model is away; battles wait meanwhile.",
    ["model", "cause"],  # cause: unreachable | timeout | overloaded | server | key | quota | model
)
LLM_BUDGET_LEFT = Gauge(
    "nuggetstream_llm_budget_left",
    "Remaining part of the current day's budget, where one is set.",
    ["unit"],  # unit: tokens, or the currency
)
EMBEDDED = Counter(
    "nuggetstream_embedded_texts_total", "Texts embedded, by where the vector came from.", ["source"]
)
