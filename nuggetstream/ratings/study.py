"""Everything that is asked of some files of votes, in one go."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from nuggetstream.files.votes import Reading, VoteSource
from nuggetstream.ratings.advice import Advised, advise
from nuggetstream.ratings.board import Method, Rated, rate
from nuggetstream.ratings.casting import Poll, cast, poll, systems_of
from nuggetstream.ratings.elo import Arithmetic
from nuggetstream.ratings.powered import Powered, power
from nuggetstream.ratings.sources import Weighed, gather, human_source
from nuggetstream.ratings.style import Styled, at_equal_style
from nuggetstream.ratings.tournament import Played, WonOutright, play, won_outright


class Clash(ValueError):
    """Two things are asked for that do not go together."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked.

    Attributes:
        files: of votes.
        weights: of their sources, by name.
        reading: how the files are read.
        method: how ratings are made.
        human: a file of human votes that the others are to be corrected by.
        elo: the arithmetics of tournaments to play.
        rounds: tournaments of each.
        k: largest change of a game.
        advise: whether to say what to ask next.
    """

    files: tuple[Path, ...]
    weights: Mapping[str, float] = field(default_factory=dict)
    reading: Reading = field(default_factory=Reading)
    method: Method = field(default_factory=Method)
    human: Path | None = None
    elo: tuple[Arithmetic, ...] = ()
    rounds: int = 500
    k: float = 32.0
    advise: bool = False


@dataclass(frozen=True, slots=True)
class Study:
    """What was found; a section that nobody asked for is None or empty.

    Attributes:
        sources: the votes read.
        clusters: how many clusters the votes are; None when each stands alone.
        human: the human votes behind `powered`.
    """

    question: Question
    sources: tuple[Weighed, ...]
    clusters: int | None
    rated: Rated
    styled: Styled | None = None
    played: tuple[Played, ...] = ()
    outright: WonOutright | None = None
    advised: Advised | None = None
    human: VoteSource | None = None
    powered: Powered | None = None

    @property
    def weighted(self) -> bool:
        """Whether some vote does not weigh 1, so that what is counted is weight and not battles."""
        return any(
            each.weight != 1 or any(vote.weight != 1 for vote in each.source.votes) for each in self.sources
        )


def study(question: Question) -> Study:
    """Read the files and answer.

    Raises:
        UnusableFile: naming file, line and field.
        UnknownSource: a weight for no source.
        Clash: what is asked does not go together.
        OneCluster: the votes are one cluster.
        TooManyVotes: they cannot be held one by one.
        Unsettled: their weights are too uneven.
        AnchorNotRanked: the anchor has no rating.
    """
    asked = question.reading.named
    if question.human and asked.cluster:
        raise Clash("--human takes battles as independent; it does not go with --cluster")
    if question.human and question.method.policy.models_ties:
        raise Clash("--human counts a tie as half a win or not at all; not with a model of ties")
    reading = replace(question.reading, named=replace(asked, needs_battle=question.human is not None))
    sources = gather(question.files, question.weights, reading)
    if question.human and len(sources) > 1:
        raise Clash("--human corrects one source of automatic votes; rate the others one by one")
    systems = systems_of(sources, reading.systems)
    votes = cast(sources, systems)
    rated = rate(votes, question.method)
    found = Study(question, sources, _clusters(votes, asked.cluster), rated)
    single = poll(sources, systems) if asked.style or question.elo else None
    if single is not None and asked.style:
        found = replace(found, styled=at_equal_style(single, sources, asked.features, question.method))
    if single is not None and question.elo:
        found = replace(found, played=_played(single, question), outright=won_outright(single.tally))
    if question.advise:
        found = replace(found, advised=advise(rated.fitted, question.method.level))
    if question.human is not None:
        human = human_source(question.human, _as_human(reading))
        found = replace(found, human=human, powered=power(human, sources[0].source, question.method))
    return found


def _clusters(votes: object, column: str | None) -> int | None:
    return votes.ballots.clusters if column and isinstance(votes, Poll) else None


def _played(single: Poll, question: Question) -> tuple[Played, ...]:
    method = question.method
    return tuple(
        play(single, method.policy, arithmetic, rounds=question.rounds, k=question.k, seed=method.seed)
        for arithmetic in question.elo
    )


def _as_human(reading: Reading) -> Reading:
    """People's votes have no style to read: that of the answers is read once."""
    return replace(reading, named=replace(reading.named, style=False, features=()))
