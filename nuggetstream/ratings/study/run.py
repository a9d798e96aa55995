"""Everything that `nuggetstream rate` computes from some files of votes."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from nuggetstream.files.columns import NamedColumns
from nuggetstream.files.votes import ReadOptions, VoteSource
from nuggetstream.ratings.advice import Advice
from nuggetstream.ratings.fitting.elo import Arithmetic
from nuggetstream.ratings.model import Ratings
from nuggetstream.ratings.options import Every, Options
from nuggetstream.ratings.rated_votes import RatedVotes, rate_votes
from nuggetstream.ratings.study.casting import Poll, cast, poll, styled_votes, systems_of
from nuggetstream.ratings.study.matching import matched
from nuggetstream.ratings.study.over_time import over_time
from nuggetstream.ratings.study.sources import Weighed, gather, human_source, remarks_of
from nuggetstream.ratings.study.tournament import Tournament, WonOutright, play, won_outright
from nuggetstream.ratings.timeline import Period


class Clash(ValueError):
    """Two things are asked for that exclude each other."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyOptions:
    """What to compute from which files.

    Attributes:
        files: Files of votes.
        weights: Weights of their sources, by name.
        reading: How to read the files.
        rating: How to rate.
        human: A file of human votes that correct the others.
        elo: Arithmetics of the Elo tournaments to play.
        rounds: Number of tournaments per arithmetic.
        k: Largest change of a rating in one game.
        advise: Whether to advise on the next battles.
        every: Length of the periods of ratings over time; None for none.
        cumulative: Whether a period counts all votes since the beginning.
    """

    files: tuple[Path, ...]
    weights: Mapping[str, float] = field(default_factory=dict)
    reading: ReadOptions = field(default_factory=ReadOptions)
    rating: Options = field(default_factory=Options)
    human: Path | None = None
    elo: tuple[Arithmetic, ...] = ()
    rounds: int = 500
    k: float = 32.0
    advise: bool = False
    every: Every | None = None
    cumulative: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """The results; a section that nobody asked for is None or empty.

    Attributes:
        options: What was asked for.
        sources: The votes that were read.
        ratings: The ratings, with combined votes and the board at equal style where asked for.
        clusters: Number of clusters of votes; None when every vote stands alone.
        tournaments: Elo tournaments.
        outright: How often each system won outright; None without tournaments.
        advice: What to ask next.
        human: The human votes behind `ratings.combined`.
        periods: Ratings over time.
    """

    options: StudyOptions
    sources: tuple[Weighed, ...]
    ratings: RatedVotes
    clusters: int | None
    tournaments: tuple[Tournament, ...] = ()
    outright: WonOutright | None = None
    advice: Advice | None = None
    human: VoteSource | None = None
    periods: tuple[Period[Ratings], ...] = ()

    @property
    def weighted(self) -> bool:
        """Whether a vote has a weight other than 1, so that sums are weights and not battles."""
        return any(
            source.weight != 1 or any(vote.weight != 1 for vote in source.source.votes)
            for source in self.sources
        )

    @property
    def rows_without_vote(self) -> int:
        """Rows without an outcome; they are neither votes nor ties."""
        return sum(source.source.without_vote for source in self.sources)


def study(options: StudyOptions) -> Study:
    """Read the files and compute what is asked for.

    Raises:
        UnusableFile: A file cannot be used; the message names file, line and field.
        UnknownSource: A weight for a source that no file holds.
        Clash: Two options exclude each other.
        OneCluster: All votes form one cluster.
        TooManyVotes: There are more single votes than memory can hold.
        Unsettled: The weights of the votes are too uneven for a fit.
        AnchorNotRanked: The anchor has no rating.
    """
    columns = options.reading.columns
    if options.human and columns.cluster:
        raise Clash("--human takes battles as independent; it does not go with --cluster")
    if options.human and options.rating.policy.models_ties:
        raise Clash("--human counts a tie as half a win or not at all, it does not go with a model of ties")
    reading = replace(options.reading, columns=_needed_columns(columns, options))
    sources = gather(options.files, options.weights, reading)
    if options.human and len(sources) > 1:
        raise Clash("--human corrects one source of automatic votes; rate the others one by one")
    systems = systems_of(sources, reading.systems)
    votes = cast(sources, systems)
    single = poll(sources, systems) if columns.style or options.elo else None
    human = human_source(options.human, _without_style(reading)) if options.human else None
    ratings = rate_votes(
        votes,
        options.rating,
        joint=None if human is None else matched(human, sources[0].source, options.rating.policy),
        styled=styled_votes(single, sources) if single is not None and columns.style else None,
        remarks=(*remarks_of(sources), *(human.remarks if human else ())),
    )
    return Study(
        options=options,
        sources=sources,
        ratings=ratings,
        clusters=votes.clusters if columns.cluster else None,
        tournaments=_tournaments(single, options) if single is not None else (),
        outright=won_outright(single.tally) if single is not None and options.elo else None,
        advice=ratings.advice() if options.advise else None,
        human=human,
        periods=_periods(sources, options),
    )


def _needed_columns(columns: NamedColumns, options: StudyOptions) -> NamedColumns:
    return replace(columns, needs_battle=options.human is not None, needs_time=options.every is not None)


def _periods(sources: tuple[Weighed, ...], options: StudyOptions) -> tuple[Period[Ratings], ...]:
    if options.every is None:
        return ()
    return over_time(sources, options.rating, options.every, cumulative=options.cumulative)


def _tournaments(single: Poll, options: StudyOptions) -> tuple[Tournament, ...]:
    return tuple(
        play(
            single,
            options.rating.policy,
            arithmetic,
            rounds=options.rounds,
            k=options.k,
            seed=options.rating.seed,
        )
        for arithmetic in options.elo
    )


def _without_style(reading: ReadOptions) -> ReadOptions:
    """How to read human votes: the style of the answers is read once, with the automatic votes."""
    return replace(reading, columns=replace(reading.columns, style=False, features=(), needs_time=False))
