"""What goes wrong in a run, chosen by a seed: the same seed brings the same trouble in the same order."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What goes wrong."""

    KILL = "kill -9 of a service"
    STOP = "SIGSTOP of a service"
    BROKER = "kill -9 of a broker"
    DATABASE = "stop of PostgreSQL"
    DISK = "full disk of a broker"
    STORAGE = "storage of a broker removed"
    MODEL = "model away"


@dataclass(frozen=True, slots=True)
class Strike:
    """One thing that goes wrong.

    Attributes:
        kind: What.
        target: Name of the process; of a service for a kill, of a broker, else of what the kind names.
        seconds: How long it lasts; 0 for a process that is started again at once.
        pause: Seconds until the next one begins. The next one does not wait for the end of this one.
    """

    kind: Kind
    target: str
    seconds: float
    pause: float

    def __str__(self) -> str:
        lasting = f" for {self.seconds:g} s" if self.seconds else ""
        return f"{self.kind.value}: {self.target}{lasting}"


@dataclass(frozen=True, slots=True)
class Amount:
    """How much goes wrong.

    Attributes:
        kills: Number of kills of services.
        brokers: Number of kills of brokers.
        databases: Number of stops of PostgreSQL.
        disks: Number of full disks.
        storages: Number of brokers whose storage is removed; the others of the cluster have their streams.
        stops: Seconds that a service stands still, once per entry.
        model_seconds: How long the model is away, once per entry.
        pause: Mean number of seconds between two strikes.
        head_start: Seconds that the longest absence of the model lasts before anything else goes wrong, so
            that the rest meets battles that wait for it; None lets it begin at a random time.
    """

    kills: int
    brokers: int
    databases: int
    disks: int
    model_seconds: Sequence[float]
    pause: float
    head_start: float | None = None
    storages: int = 0
    stops: Sequence[float] = ()


def plan(seed: int, amount: Amount, services: Sequence[str], brokers: Sequence[str]) -> list[Strike]:
    """Strikes in random order.

    Services are killed in turn, in random order, so that few kills meet many services.

    Args:
        seed: Decides the order, the targets and the pauses.
        amount: How many of each kind.
        services: Names of the processes that may be killed.
        brokers: Names of the brokers.
    """
    rng = random.Random(seed)
    turns: list[str] = []
    while len(turns) < amount.kills:
        turns += rng.sample(services, len(services))
    chosen = [(Kind.KILL, name, 0.0) for name in turns[: amount.kills]]
    chosen += [(Kind.BROKER, rng.choice(brokers), 0.0) for _ in range(amount.brokers)]
    chosen += [(Kind.DATABASE, "PostgreSQL", 1.0 + 2.0 * rng.random()) for _ in range(amount.databases)]
    chosen += [(Kind.DISK, rng.choice(brokers), 2.0 + 2.0 * rng.random()) for _ in range(amount.disks)]
    chosen += [(Kind.STORAGE, rng.choice(brokers), 0.0) for _ in range(amount.storages)]
    chosen += [(Kind.STOP, rng.choice(services), seconds) for seconds in amount.stops]
    chosen += [(Kind.MODEL, "endpoint", seconds) for seconds in amount.model_seconds]
    rng.shuffle(chosen)
    pauses = [amount.pause * rng.uniform(0.5, 1.5) for _ in chosen]
    if amount.head_start is not None:
        longest = (Kind.MODEL, "endpoint", max(amount.model_seconds))
        chosen.remove(longest)
        chosen.insert(0, longest)
        pauses[0] = amount.head_start
    return [
        Strike(kind=kind, target=target, seconds=round(seconds, 1), pause=pause)
        for (kind, target, seconds), pause in zip(chosen, pauses, strict=True)
    ]
