"""What each service may publish and read at the broker: users of NATS with no more rights than they need.

A service that is taken over has its own rights and no others. The scraper, which parses pages of strangers,
can publish that a battle was scraped or failed; it cannot publish a verdict or a vote, read the battles of
another stage, or change a stream.

| user                   | publishes                                | reads                            |
|------------------------|------------------------------------------|----------------------------------|
| a stage, by its name   | its event, failures, its dead letters    | what its own consumers deliver   |
| `rater`                | that boards changed                      | that events were recorded        |
| `gateway`              | all events; it deletes messages          | which work is in flight          |
| `recorder`             | everything; commands are run in its pods | what its consumers deliver       |
| `arena`                | battles to be evaluated                  | nothing                          |

Replies of the broker come to subjects that begin with the user's own name, so that no user reads the replies
to another.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from nuggetstream.domain.event import BattleFailed, BattleGraded, BattleSubmitted, Event
from nuggetstream.domain.pipeline import PIPELINE, Stage
from services.runtime.bus import ConsumerSpec, inbox_of
from services.wire import subjects
from services.wire.evaluators import EVALUATORS
from services.wire.subjects import SUBJECTS
from services.wire.topology import consumer, grader_consumer

ARENA = "arena"
_API = "$JS.API"
# Which streams there are, and how full: what every service asks before it starts and while it works.
_LOOKING = (f"{_API}.STREAM.LIST", f"{_API}.STREAM.INFO.*")
_EVERYTHING = (f"{subjects.PREFIX}.>", "$JS.API.>", "$JS.ACK.>", "$JS.FC.>")


@dataclass(frozen=True, slots=True)
class Permissions:
    """Subjects of one user of the broker; wildcards are those of NATS.

    Attributes:
        publish: Subjects that it may publish to, requests to the broker included.
        subscribe: Subjects that it may subscribe to.
    """

    publish: tuple[str, ...]
    subscribe: tuple[str, ...]


def permissions() -> dict[str, Permissions]:
    """The permissions of all users, by name.

    >>> "arena.v1.battle.judged" in permissions()["scraper"].publish
    False
    """
    return {
        **{stage.value: Permissions(_published_by(stage), _read_by(stage)) for stage in PIPELINE},
        "rater": Permissions((*_LOOKING, subjects.RATINGS), _reads("rater", subjects.RECORDED)),
        "gateway": Permissions(_published_by_gateway(), _reads("gateway", *_ON_WORK)),
        "recorder": Permissions(_EVERYTHING, _reads("recorder")),
        # Programs of arenas need not know how replies are named here.
        ARENA: Permissions((subjects.INGEST,), _reads(ARENA, "_INBOX.>")),
    }


def caused_by(user: str) -> list[type[Event]]:
    """The events that a user can cause: it may publish on their subjects, and nothing else is taken there.

    >>> [kind.__name__ for kind in caused_by("scraper")]
    ['BattleScraped', 'BattleFailed']
    """
    allowed = permissions()[user].publish
    return [
        kind for kind, subject in SUBJECTS.items() if any(_covers(pattern, subject) for pattern in allowed)
    ]


def _covers(pattern: str, subject: str) -> bool:
    """Whether a pattern of NATS that ends with its only wildcard covers a subject."""
    return subject.startswith(pattern.removesuffix(">")) if pattern.endswith(">") else subject == pattern


_ON_WORK = (subjects.RECORDED, subjects.MODEL_STATE, subjects.STAGE_RETRY)


def _reads(user: str, *further: str) -> tuple[str, ...]:
    return (f"{inbox_of(user)}.>", *further)


def _read_by(stage: Stage) -> tuple[str, ...]:
    # The indexer loads its model when it hears of the first battle.
    return _reads(stage.value, *([SUBJECTS[BattleSubmitted]] if stage is Stage.INDEXER else []))


def _published_by(stage: Stage) -> tuple[str, ...]:
    own = [consumer(stage)]
    events = [f"{subjects.BATTLE}.{PIPELINE[stage].publishes}", SUBJECTS[BattleFailed]]
    if stage is Stage.JUDGE:  # its processes run the evaluators
        own += map(grader_consumer, EVALUATORS)
        events.append(SUBJECTS[BattleGraded])
    return (*_LOOKING, *events, subjects.MODEL_STATE, subjects.STAGE_RETRY, *_working(own))


def _published_by_gateway() -> tuple[str, ...]:
    """The gateway receives battles and votes, and finds, repeats and deletes messages."""
    streams = (subjects.STREAM_ARENA, subjects.STREAM_INGEST, subjects.STREAM_DEAD)
    reading = ("CONSUMER.CREATE.{0}", "CONSUMER.CREATE.{0}.>", "CONSUMER.INFO.{0}.>", "CONSUMER.DELETE.{0}.>")
    single = ("STREAM.MSG.GET.{0}", "STREAM.MSG.DELETE.{0}", "DIRECT.GET.{0}", "DIRECT.GET.{0}.>")
    return (
        *_LOOKING,
        f"{_API}.CONSUMER.LIST.*",
        f"{subjects.PREFIX}.>",
        *_working([consumer(Stage.INTAKE)]),
        *(f"{_API}.{call.format(stream)}" for stream in streams for call in (*reading, *single)),
        "$JS.FC.>",
    )


def _working(own: Iterable[ConsumerSpec]) -> tuple[str, ...]:
    """What a runner sends for its consumers: it pulls, acks, gives up, and declares one that disappeared."""
    subjects: list[str] = []
    for spec in own:
        name = f"{spec.stream}.{spec.durable}"
        # With its filter in the subject, a consumer cannot be declared with another one.
        filtered = f"{name}.{spec.subjects[0]}" if len(spec.subjects) == 1 else name
        calls = (f"MSG.NEXT.{name}", f"INFO.{name}", f"CREATE.{filtered}")
        subjects += [*(f"{_API}.CONSUMER.{call}" for call in calls), f"$JS.ACK.{name}.>", spec.dead_subject]
    return tuple(dict.fromkeys(subjects))
