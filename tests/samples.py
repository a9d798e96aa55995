"""Small battles and what follows from them, for tests that need one at hand."""

from collections.abc import Sequence
from datetime import UTC, datetime

from nuggetstream.domain import event as events
from nuggetstream.domain.battle import Answer, Battle, Side, Source, Vote
from nuggetstream.domain.conversation import Role, Turn
from nuggetstream.domain.evidence import Evidence, Page, PageState
from nuggetstream.domain.failure import Reason, StageFailure
from nuggetstream.domain.grade import Criterion, Grade, Grading, Subject
from nuggetstream.domain.identity import content_hash
from nuggetstream.domain.judgment import Judgment
from nuggetstream.domain.nugget import (
    Assignment,
    AssignmentSet,
    Importance,
    Nugget,
    NuggetList,
    Provenance,
    Support,
)
from nuggetstream.domain.pipeline import Stage

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
TURNS = (Turn(Role.USER, "Who grows tea?"), Turn(Role.ASSISTANT, "China grows most of it."))


def battle(
    name: str = "b1",
    a: str = "Tea is made of leaves.",
    b: str = "Tea is a drink.",
    urls_a: Sequence[str] = (),
    urls_b: Sequence[str] = (),
    arena: str = "default",
) -> Battle:
    """A battle between `left` and `right`."""
    left = Answer("left", a, tuple(Source(url) for url in urls_a))
    return Battle(name, arena, "What is tea?", left, Answer("right", b, tuple(Source(url) for url in urls_b)))


def page(url: str, text: str, state: PageState = PageState.FETCHED) -> Page:
    """A page whose text would be stored under its hash."""
    return Page(url, url, f"title of {url}", state, "ok", "", content_hash(text), "en", NOON)


def evidence(place: int) -> Evidence:
    """One retrieved chunk."""
    name = f"https://example.org/{place}"
    return Evidence(f"chunk{place}", f"Passage number {place}.", name, "", f"h{place}", NOON, (Side.A,), 1.0)


def retrieved(chunks: int = 2, key: str = "k1", fought: Battle | None = None) -> events.BattleRetrieved:
    """What the nuggetizer and the judge read."""
    found = tuple(evidence(place) for place in range(1, chunks + 1))
    return events.BattleRetrieved(key, fought or battle(), (), found, "bm25")


def nugget_list(vital: int, okay: int = 0, read: Sequence[str] = ()) -> NuggetList:
    """Nuggets v0.. and o0.., vital ones first; the vital ones were read in these chunks."""
    origins = tuple(Provenance(chunk, f"https://example.org/{chunk}", "h", NOON) for chunk in read)
    nuggets = [Nugget(f"v{i}", f"Vital fact {i}.", Importance.VITAL, origins) for i in range(vital)]
    nuggets += [Nugget(f"o{i}", f"Okay fact {i}.", Importance.OKAY) for i in range(okay)]
    return NuggetList(tuple(nuggets), (), "live", "both", "m", "1")


def nuggetized(vital: int, okay: int = 0, fought: Battle | None = None) -> events.BattleNuggetized:
    """What the assigner reads."""
    return events.BattleNuggetized("k2", fought or battle(), nugget_list(vital, okay))


def assigned(
    supported_a: int,
    supported_b: int,
    of: int,
    fought: Battle | None = None,
    key: str = "assigned",
    read: Sequence[str] = (),
) -> events.BattleAssigned:
    """Of so many vital nuggets, read in these chunks, each side states so many."""
    nuggets = nugget_list(of, read=read)
    labels = [
        Assignment(nugget.id, side, Support.SUPPORT if place < count else Support.NOT_SUPPORT)
        for side, count in ((Side.A, supported_a), (Side.B, supported_b))
        for place, nugget in enumerate(nuggets.nuggets)
    ]
    return events.BattleAssigned(key, fought or battle(), nuggets, AssignmentSet(tuple(labels), "m", "1"))


def judged(
    winner: Vote = Vote.A, evaluator: str = "pairwise", fought: Battle | None = None
) -> events.BattleJudged:
    """One judge's verdict."""
    judgment = Judgment(evaluator, winner, None, (), "m", "1")
    return events.BattleJudged(f"judged {evaluator}", fought or battle(), judgment)


def graded(evaluator: str = "answer_quality", name: str = "b1", key: str = "graded") -> events.BattleGraded:
    """One evaluator's grades: the answer of A is relevant, that of B could not be graded."""
    criterion = Criterion("relevance", "0-2", 0.0, 2.0)
    grade = Grade(Subject.answer(Side.A), criterion.name, 2.0, reason="It says what tea is.")
    grading = Grading(evaluator, "m", "1", (criterion,), (grade,))
    return events.BattleGraded(f"{key} {evaluator}", name, "default", grading)


def voted(vote: Vote = Vote.B, at: datetime = NOON, name: str = "b1") -> events.BattleVoted:
    """A human's vote."""
    return events.BattleVoted(f"vote {at}", name, "default", "left", "right", vote, at)


def failed(stage: Stage, name: str = "b1", reason: Reason = Reason.LLM_UNAVAILABLE) -> events.BattleFailed:
    """A stage gave up."""
    return events.BattleFailed(
        f"failed {stage}", name, "default", StageFailure(stage, reason, "no answer", 5)
    )
