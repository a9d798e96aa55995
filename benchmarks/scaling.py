"""What so many battles a second need, derived from what was measured: the table of docs/scaling.md.

    python -m benchmarks.scaling

Everything grows in proportion to the battles; what does not is left out and named in the document.
"""

import math
from collections.abc import Callable
from functools import partial

RATES = (1, 12, 100, 1_000)  # battles a second
DAY = 86_400  # seconds
# `make bench-live` on two quiet cores: processor seconds of a battle beyond what readers of the board cost.
PROCESSOR = {
    "gateway": 0.037,
    "scraper": 0.004,
    "indexer": 0.011,
    "retriever": 0.007,
    "nuggetizer": 0.035,
    "assigner": 0.031,
    "judge": 0.036,
    "rater": 0.011,
    "recorder": 0.037,
}
BROKER_CPU, DATABASE_CPU = 0.019, 0.025  # processor seconds
MESSAGES, MESSAGE_BYTES = 31.4, 70_800  # that the broker receives, acks and requests included
TRANSACTIONS, ROWS, DATABASE_BYTES, LOG_BYTES = 74, 168, 43_100, 90_000
PROCESS_MB = 2_266 / 9  # `make bench-live`: all nine services after 1,500 battles
PAGES, PAGES_A_SECOND = 10, 153  # sources of a battle; `make bench-scraper`: pages a core extracts
STORED = 8  # messages in streams: the hops of `make bench-cpu`
CONFIRMED = 1 / 0.0016  # `benchmarks/durability.py`: stored messages a second, on disk, 32 at a time
# `make bench-llm`, the profile live: calls and tokens, and its simulated model.
CALLS, TOKENS_IN, CACHED, TOKENS_OUT = 5.0, 10_219, 1_152, 673
CALL_SECONDS = 0.5 + 0.005 * TOKENS_OUT / CALLS
PRICES = (0.40, 0.10, 1.60)  # a million tokens: in, from the cache, out
BUSY = 0.7  # of a core: the target of k8s/components/hpa
LEAST = {"gateway": 2, "indexer": 2, "retriever": 2, "rater": 2}  # of k8s/overlays/prod
COPIES = 3  # of each stream
CONNECTIONS = 4  # of a process, in k8s/base/settings.env


def processor(service: str) -> float:
    """Processor seconds of a battle in a service, pages fetched."""
    return PROCESSOR[service] + (PAGES / PAGES_A_SECOND if service == "scraper" else 0.0)


def replicas(service: str, rate: float) -> int:
    """Pods of a service: one process uses one core. Each pod of the rater computes all boards."""
    if service == "rater":
        return LEAST["rater"]
    return max(LEAST.get(service, 1), math.ceil(rate * processor(service) / BUSY))


def pods(rate: float) -> int:
    """Pods of all services."""
    return sum(replicas(service, rate) for service in PROCESSOR)


def money(battles: float) -> float:
    """What the model calls of battles cost."""
    fresh, cached, out = PRICES
    return battles * ((TOKENS_IN - CACHED) * fresh + CACHED * cached + TOKENS_OUT * out) / 1e6


def stored_limit() -> float:
    """Battles a second up to which the measured disk confirms the messages of one stream."""
    return CONFIRMED / STORED


ROWS_OF_TABLE: dict[str, Callable[[float], float]] = {
    **{f"pods: {name}": partial(replicas, name) for name in PROCESSOR},
    "pods: all": pods,
    "cores: services": lambda rate: rate * sum(map(processor, PROCESSOR)),
    "memory of the services, GB": lambda rate: pods(rate) * PROCESS_MB / 1e3,
    "connections to PostgreSQL": lambda rate: pods(rate) * CONNECTIONS,
    "NATS: cores": lambda rate: rate * BROKER_CPU,
    "NATS: messages a second": lambda rate: rate * MESSAGES,
    "NATS: messages stored a second": lambda rate: rate * STORED,
    "NATS: MB a second to each of three disks": lambda rate: rate * MESSAGE_BYTES / 1e6,
    "PostgreSQL: cores": lambda rate: rate * DATABASE_CPU,
    "PostgreSQL: transactions a second": lambda rate: rate * TRANSACTIONS,
    "PostgreSQL: rows written a second": lambda rate: rate * ROWS,
    "PostgreSQL: MB of its log a second": lambda rate: rate * LOG_BYTES / 1e6,
    "PostgreSQL: GB a day that stay": lambda rate: rate * DAY * DATABASE_BYTES / 1e9,
    "model calls a second": lambda rate: rate * CALLS,
    "model calls at once": lambda rate: rate * CALLS * CALL_SECONDS,
    "model: million tokens a minute": lambda rate: rate * 60 * (TOKENS_IN + TOKENS_OUT) / 1e6,
    "money a day": lambda rate: money(rate * DAY),
}


def shown(value: float) -> str:
    """Two digits of what is small, three of what is large.

    >>> [shown(value) for value in (0.0321, 3.26, 60, 12_345.6)]
    ['0.032', '3.3', '60', '12,300']
    """
    digits = 3 if value >= 100 else 2
    rounded = float(f"{value:.{digits}g}")
    return f"{rounded:,.0f}" if rounded >= 10 or rounded == int(rounded) else f"{rounded:g}"


def table() -> str:
    """The table in Markdown."""
    head = "| battles a second | " + " | ".join(f"{rate:,}" for rate in RATES) + " |"
    rows = [head, "|---" * (len(RATES) + 1) + "|"]
    for name, of_rate in ROWS_OF_TABLE.items():
        exact = name.startswith("pods")
        cells = (f"{of_rate(rate):,.0f}" if exact else shown(of_rate(rate)) for rate in RATES)
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


if __name__ == "__main__":
    print(table())
