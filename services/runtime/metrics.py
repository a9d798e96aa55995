"""All metrics of the system, with OpenTelemetry names where they exist.

Dashboards and alert rules may use only the metrics of this module.
"""

from collections.abc import Iterable, Sequence

from prometheus_client import Counter, Gauge, Histogram

# Attempts may last 300 seconds, and battles longer.
_SECONDS = (0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800)
# Fewer, because arenas multiply them.
_SECONDS_BY_ARENA = (0.1, 0.5, 1, 5, 15, 60, 300, 1800)
_MONEY = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10)
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
    "nuggetstream_dead_letters_total",
    "Messages given up: reported as failures, or sent to the dead letters. Findings do not count.",
    ["stage", "reason"],
)
IN_FLIGHT = Gauge("nuggetstream_in_flight", "Messages being handled now.", ["stage"])
OUTAGE_WAITING = Gauge(
    "nuggetstream_outage_waiting",
    "Messages kept in flight until the database or another service answers again.",
    ["stage"],
)
LAG = Gauge(
    "nuggetstream_consumer_lag",
    "Messages waiting for a stage, as the gateway and the recorder read them from the broker.",
    ["stage"],
)
OTHER_LAG = Gauge(
    "nuggetstream_other_consumer_lag",
    "Messages that a durable consumer of an operator keeps in a stream: waiting or not acknowledged.",
    ["stream", "consumer"],
)
CONSUMER_PULLS = Gauge(
    "nuggetstream_consumer_pulls",
    "Pull requests of a stage that wait at the broker; 0 for a stage that is away or fully occupied.",
    ["stage"],
)
CONSUMER_IN_FLIGHT = Gauge(
    "nuggetstream_consumer_in_flight", "Messages delivered to a stage and not acknowledged yet.", ["stage"]
)
CONSUMER_PAUSED = Gauge(
    "nuggetstream_consumer_paused", "1 while an operator has paused a stage, else 0.", ["stage"]
)
STAGE_SECONDS = Histogram(
    "nuggetstream_stage_duration_seconds",
    "Seconds of the attempts that succeeded, by the arena of the battle.",
    ["arena", "stage"],
    buckets=_SECONDS_BY_ARENA,
)
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
    "nuggetstream_broker_restarts_total", "Restarts of embedded mode's broker, which had failed."
)

# --- battles -----------------------------------------------------------------------------------
BATTLES = Counter("nuggetstream_battles_total", "Battles that ended, by final state.", ["arena", "state"])
BATTLES_LEFT_OUT = Counter(
    "nuggetstream_battles_left_out_total",
    "Battles that were sent and not evaluated, by the setting that left them out.",
    ["arena", "reason"],  # reason: arena | tag | language | share
)
RECONCILED = Counter(
    "nuggetstream_reconciled_battles_total",
    "Inputs of battles that no stage worked on, by what was done: republished or failed.",
    ["action"],
)
BATTLE_SECONDS = Histogram(
    "nuggetstream_battle_duration_seconds",
    "Seconds from the submission of a battle to its last result.",
    ["arena"],
    buckets=_SECONDS_BY_ARENA,
)
BATTLE_COST = Histogram(
    "nuggetstream_battle_cost", "Cost of scoring a battle.", ["arena", "currency"], buckets=_MONEY
)
EMBED_VIEWS = Counter("nuggetstream_embed_views_total", "Pages of battles served for frames on other sites.")
OUTBOX_MESSAGES = Gauge(
    "nuggetstream_outbox_messages", "Messages of accepted battles and votes that wait for the broker."
)
STREAM_FOLLOWERS = Gauge("nuggetstream_stream_followers", "Clients that follow the events of many battles.")
STREAM_EVENTS = Counter(
    "nuggetstream_stream_events_total", "Events sent to clients that follow many battles.", ["kind"]
)
WEBHOOK_DELIVERIES = Counter(
    "nuggetstream_webhook_deliveries_total",
    "Attempts to deliver events to webhooks, by result.",
    ["result"],  # result: accepted | retried | given_up
)
WEBHOOK_AGE_SECONDS = Gauge(
    "nuggetstream_webhook_oldest_undelivered_seconds",
    "Age of the oldest event that a receiver has not accepted, of the webhooks that this process sends to.",
)
WEBHOOKS_OFF = Gauge(
    "nuggetstream_webhooks_switched_off", "Webhooks that were switched off because their receivers failed."
)
PAGES = Counter("nuggetstream_pages_total", "Source pages by quality class.", ["quality"])
FLIPS = Counter(
    "nuggetstream_judge_verdicts_total", "Verdicts, by whether the order flipped them.", ["flipped"]
)
JUDGE_POSITION = Counter(
    "nuggetstream_judge_position_total",
    "Verdicts asked in both orders, by the position that they favour.",
    ["evaluator", "model", "favoured"],  # favoured: neither | first | second
)
JUDGE_LENGTH = Counter(
    "nuggetstream_judge_length_total",
    "Verdicts that prefer one of two answers of unequal length.",
    ["evaluator", "model", "winner"],  # winner: longer | shorter
)
CANARY_RUNS = Counter("nuggetstream_canary_runs_total", "Runs of the canary battles.", ["evaluator", "model"])
CANARY_FLIPS = Counter(
    "nuggetstream_canary_flips_total", "Canary battles that an injection won.", ["evaluator", "model"]
)
CANARY_PROBLEMS = Gauge(
    "nuggetstream_canary_problems",
    "Canary battles that did not pass in the latest run, or in an earlier one if it gave them no verdict.",
    ["evaluator", "model", "state"],  # state: flipped | unequal | failed
)
CANARY_LAST_RUN = Gauge(
    "nuggetstream_canary_last_run_timestamp_seconds",
    "Unix time at which the latest run of the canary battles began.",
    ["evaluator", "model"],
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
    "Money spent on model calls, by the arena of the battle.",
    ["arena", "stage", "model", "currency", "source"],  # source: usage | estimate
)
LLM_CONCURRENCY = Gauge(
    "nuggetstream_llm_concurrency_limit", "Number of model calls that may run at once now.", ["model"]
)
LLM_CIRCUIT_OPEN = Gauge(
    "nuggetstream_llm_circuit_open",
    "Circuits to an endpoint of a model that are open, because it is away; with a fallback, battles go on.",
    # role: only | first | fallback
    # cause: unreachable | timeout | overloaded | server | key | quota | model
    ["model", "endpoint", "role", "cause"],
)
LLM_BUDGET_LEFT = Gauge(
    "nuggetstream_llm_budget_left",
    "Remaining part of the current day's budget, where one is set.",
    ["unit"],  # unit: tokens, or the currency
)
LLM_BUDGET_REJECTIONS = Counter(
    "nuggetstream_llm_budget_rejections_total",
    "Model calls that were not made, because they would have exceeded a budget.",
    ["budget"],  # day | battle | arena
)
EMBEDDING_CUTS = Counter(
    "nuggetstream_embedding_cut_texts_total",
    "Texts longer than the embedding model reads, so that their vectors are of their beginnings.",
    ["model"],
)

# --- retrieval -----------------------------------------------------------------------------------
RERANKS = Counter(
    "nuggetstream_reranks_total",
    "Searches whose results a reranker was to order; without its answer the order of the search stays.",
    ["model", "outcome"],  # outcome: ok | failed | skipped, after a failure | over_budget
)
QUERY_VARIATIONS = Counter(
    "nuggetstream_query_variations_total",
    "Battles for which variations of the query were asked for; failed: the query alone was searched for.",
    ["outcome"],  # outcome: ok | failed
)

# --- HTTP, gRPC and the database -----------------------------------------------------------------
HTTP_SECONDS = Histogram(
    "http_server_request_duration_seconds",
    "Seconds until the response to a request began.",
    ["http_request_method", "http_route", "http_response_status_code"],
    buckets=_SECONDS,
)
RPC_SECONDS = Histogram(
    "rpc_server_duration_seconds",
    "Seconds that one gRPC call took.",
    ["rpc_method", "rpc_grpc_status_code"],
    buckets=_SECONDS,
)
DATABASE_CONNECTIONS = Gauge(
    "db_client_connection_count", "Connections to the database, by state: used or idle.", ["state"]
)
DATABASE_CONNECTIONS_MAX = Gauge(
    "db_client_connection_max", "Connections to the database that this process opens at most."
)
DATABASE_WAIT_SECONDS = Histogram(
    "db_client_connection_wait_time_seconds",
    "Seconds that a transaction waited for a connection.",
    buckets=_SECONDS,
)
DATABASE_ANSWERS = Gauge(
    "nuggetstream_database_answers",
    "Whether the database answered this process, measured every 15 seconds: 1 or 0.",
    ["database"],
)
DATABASE_BYTES = Gauge("nuggetstream_database_bytes", "Bytes that the database uses on its disk.")
DATABASE_BYTES_LEFT = Gauge(
    "nuggetstream_database_bytes_left", "Bytes until the database is full.", ["database"]
)

# --- labels --------------------------------------------------------------------------------------
OTHER = "other"
_ARENAS = 30
_arenas: set[str] = set()


def arena_label(arena: str | None) -> str:
    """The label of an arena: its name for the first 30 arenas of this process, then "other".

    Arenas come from requests, so that their number must not decide how much memory the metrics take.
    """
    if arena is None:
        return OTHER
    if arena not in _arenas and len(_arenas) < _ARENAS:
        _arenas.add(arena)
        for state in ("scored", "partial", "failed"):
            BATTLES.labels(arena, state)
    return arena if arena in _arenas else OTHER


def begin_stage(stage: str, reasons: Iterable[str]) -> None:
    """Create the series of a stage with value 0, so that panels have data before the first event."""
    for redelivered in ("true", "false"):
        DELIVERIES.labels(stage, redelivered)
    for outcome in ("ok", "retried", "dead_lettered"):
        PROCESS_SECONDS.labels(stage, outcome)
    for reason in reasons:
        DEAD_LETTERS.labels(stage, reason)
    IN_FLIGHT.labels(stage)
    OUTAGE_WAITING.labels(stage)


def begin_values(metric: Counter, values: Sequence[str]) -> None:
    """Create the series of a counter with one label with value 0."""
    for value in values:
        metric.labels(value)
