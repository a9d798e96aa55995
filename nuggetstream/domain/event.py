"""The events of a battle. A stage is a function from one event to the next.

    BattleSubmitted -> BattleScraped -> BattleIndexed -> BattleRetrieved -> BattleNuggetized -> BattleAssigned
                                                                         -> BattleJudged
                                         BattleRetrieved, BattleAssigned -> BattleGraded, per evaluator
    BattleVoted, BattleFailed: at any time.    RatingsUpdated: when a board has changed.

`key` identifies an event: it is a hash of the key of the stage's input, the stage, and whatever changes
the result (model, prompt version, settings). Handling a message twice yields events with the same keys.
"""

from dataclasses import dataclass
from datetime import datetime

from nuggetstream.domain.battle import Battle, Vote
from nuggetstream.domain.evidence import ChunkRef, Evidence, Page
from nuggetstream.domain.failure import StageFailure
from nuggetstream.domain.flag import Flag
from nuggetstream.domain.grade import Grading
from nuggetstream.domain.human_vote import HumanVote
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.judgment import Judgment
from nuggetstream.domain.lens import Lens, source_of_judge
from nuggetstream.domain.nugget import AssignmentSet, NuggetList


@dataclass(frozen=True, slots=True)
class BattleSubmitted:
    """The gateway accepted a battle that an arena sent.

    Its vote, with voter and comment, is the one that came with the battle, from which `vote_of` makes the
    event that ratings count. Its flags are passages of the answers that seem to be written for whoever
    evaluates them.
    """

    key: str
    battle: Battle
    vote: Vote | None = None
    flags: tuple[Flag, ...] = ()
    voter: str | None = None
    comment: str | None = None

    @property
    def human_vote(self) -> HumanVote | None:
        """The vote that came with the battle."""
        return None if self.vote is None else HumanVote(self.vote, self.voter, self.comment)


@dataclass(frozen=True, slots=True)
class BattleScraped:
    """Every source was processed: its text is in the page store, or its page says why not."""

    key: str
    battle: Battle
    pages: tuple[Page, ...]


@dataclass(frozen=True, slots=True)
class BattleIndexed:
    """Every usable page was cut into chunks, and they are in the chunk table."""

    key: str
    battle: Battle
    pages: tuple[Page, ...]
    chunks: tuple[ChunkRef, ...]


@dataclass(frozen=True, slots=True)
class BattleRetrieved:
    """The chunks that match the query best were found.

    Attributes:
        evidence: The chunks, best first.
        ranking: How they were ranked: "hybrid" or "bm25", with "+variations" where variations of the query
            were searched for, too, and "+rerank" where a reranker ordered them.
        variations: The variations of the query.
    """

    key: str
    battle: Battle
    pages: tuple[Page, ...]
    evidence: tuple[Evidence, ...]
    ranking: str
    variations: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BattleNuggetized:
    """The nuggets of the battle were created, or edited by a person: the facts a good answer needs.

    Attributes:
        labels: Labels that nuggets of an edited list had before; None where there are none.
        label_model: Model that labels the nuggets, as a person asked; None for the assigner's own.
    """

    key: str
    battle: Battle
    nugget_list: NuggetList
    labels: AssignmentSet | None = None
    label_model: str | None = None


@dataclass(frozen=True, slots=True)
class BattleAssigned:
    """Every nugget was labelled for both answers: does the answer state it?"""

    key: str
    battle: Battle
    nugget_list: NuggetList
    assignment_set: AssignmentSet


@dataclass(frozen=True, slots=True)
class BattleJudged:
    """One judge compared the two answers."""

    key: str
    battle: Battle
    judgment: Judgment


@dataclass(frozen=True, slots=True)
class BattleGraded:
    """One evaluator graded what it found in a battle."""

    key: str
    battle_id: str
    arena: str
    grading: Grading


@dataclass(frozen=True, slots=True)
class BattleVoted:
    """A person voted. The newest vote of each voter in a battle counts; see `human_vote.common_vote`.

    Attributes:
        voter: Opaque id of the person; None where it is not known.
        comment: Why, in the words of the person; None without one.
    """

    key: str
    battle_id: str
    arena: str
    system_a: str
    system_b: str
    vote: Vote
    voted_at: datetime
    voter: str | None = None
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class BattleFailed:
    """A stage gave up on a battle."""

    key: str
    battle_id: str
    arena: str
    failure: StageFailure


@dataclass(frozen=True, slots=True)
class RatingsUpdated:
    """The boards of an arena changed.

    Attributes:
        outcomes: Number of outcomes that the arena's boards now rest on, over all lenses.
    """

    key: str
    arena: str
    outcomes: int
    updated_at: datetime


BattleEvent = (
    BattleSubmitted
    | BattleScraped
    | BattleIndexed
    | BattleRetrieved
    | BattleNuggetized
    | BattleAssigned
    | BattleJudged
    | BattleGraded
    | BattleVoted
    | BattleFailed
)
Event = BattleEvent | RatingsUpdated


def submission_key(battle_id: str, content_hash: str) -> str:
    """The key of the event that submits a battle; `content_hash` is that of the battle."""
    return derived_id("submitted", battle_id, content_hash)


def vote_key(battle_id: str, vote: HumanVote, *more: str) -> str:
    """The key of the event of a vote; `more` tells apart votes that are alike."""
    by = () if vote.voter is None and vote.comment is None else (vote.voter, vote.comment)
    return derived_id("voted", battle_id, vote.vote, *more, *by)


def vote_of(battle: Battle, vote: HumanVote | None, received_at: datetime) -> BattleVoted | None:
    """The vote that came with a battle, as the event that ratings count; None if there was none.

    Args:
        battle: The battle.
        vote: The vote, if any.
        received_at: When the battle was received.
    """
    if vote is None:
        return None
    return BattleVoted(
        key=vote_key(battle.id, vote),
        battle_id=battle.id,
        arena=battle.arena,
        system_a=battle.a.system,
        system_b=battle.b.system,
        vote=vote.vote,
        voted_at=received_at,
        voter=vote.voter,
        comment=vote.comment,
    )


def battle_id_of(event: BattleEvent) -> str:
    """The id of the battle an event is about."""
    if isinstance(event, BattleVoted | BattleFailed | BattleGraded):
        return event.battle_id
    return event.battle.id


def carried_battle(event: BattleEvent) -> Battle | None:
    """The battle that an event carries; None for one that only names its battle."""
    return None if isinstance(event, BattleVoted | BattleFailed | BattleGraded) else event.battle


def source_of(event: BattleEvent) -> str | None:
    """The source of the outcome that an event states; None where it states none.

    Outcomes that the event states besides have other sources: those of the members of a panel, and the one on
    grounded nuggets.
    """
    match event:
        case BattleVoted():
            return Lens.HUMAN.value
        case BattleJudged(judgment=judgment):
            return source_of_judge(judgment.evaluator, judgment.lens)
        case BattleAssigned():
            return Lens.NUGGET.value
        case _:
            return None


def list_version_of(event: BattleEvent) -> int | None:
    """The version of the nugget list that an event rests on; None where it rests on none."""
    match event:
        case BattleAssigned() | BattleNuggetized():
            return event.nugget_list.version
        case BattleJudged():
            return event.judgment.list_version
        case BattleGraded():
            return event.grading.list_version
        case _:
            return None


def arena_of(event: Event) -> str:
    """The arena an event belongs to."""
    if isinstance(event, BattleVoted | BattleFailed | BattleGraded | RatingsUpdated):
        return event.arena
    return event.battle.arena
