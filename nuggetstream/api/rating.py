"""Ratings of plain votes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Unpack

from nuggetstream.api.choices import Choices, options_of
from nuggetstream.api.sources import Rows, in_python, names_of
from nuggetstream.api.votes import read_votes
from nuggetstream.domain.inputs import ROWS, Kind, NotAccepted, check_kind, type_named
from nuggetstream.files.columns import usual_columns
from nuggetstream.files.numerals import many
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.votes import VoteSource
from nuggetstream.ratings.options import Anchor, InvalidOption
from nuggetstream.ratings.rated_votes import RatedVotes, rate_votes
from nuggetstream.ratings.study.casting import cast, poll, styled_votes, systems_of
from nuggetstream.ratings.study.matching import matched
from nuggetstream.ratings.study.sources import UnknownSource, Weighed, remarks_of


@in_python
def rate(
    votes: VoteSource | Rows | Mapping[str, VoteSource | Rows],
    *,
    weights: Mapping[str, float] | None = None,
    human: VoteSource | Rows | None = None,
    systems: Iterable[str] = (),
    anchor: Anchor | tuple[str, float] | None = None,
    **choices: Unpack[Choices],
) -> RatedVotes:
    """Bradley-Terry ratings of the systems that votes compare, with intervals, ranks and rank groups.

    P(i beats j) = 1 / (1 + exp(θj - θi)); rating = 1000 + 400 / ln 10 · (θ - mean θ), so that 400 points are
    odds of ten to one.

    Args:
        votes: What `read_votes` takes or returns; several sources by name: {"people": ..., "judge": ...}.
        weights: Weight of a vote of a source, by its name; 1 by default.
        human: Votes of people on a random part of the battles, which correct the others; see
            `RatedVotes.combined`.
        systems: Systems to list although nobody voted on them.
        anchor: A system and its rating; without one the mean rating is 1000.
        choices: Ties, intervals, level and more, see `Choices`.

    Returns:
        The ratings, higher is better; a system that cannot be ranked has no rating, but the reason why.

    Raises:
        UnusableFile: A source cannot be used; the message names the line or row, and the field.
        InvalidOption: An option is out of range, or two exclude each other.
        AnchorNotRanked: The anchor has no rating although other systems have.
        UnknownSource: A weight for a source that is not given, or one that is not above 0.

    Source: Bradley and Terry, 1952; Ford, 1957 (who can be ranked); Rubin, 1981 (the resamples).

    >>> wins = [("atlas", "birch", "a")] * 30 + [("atlas", "birch", "b")] * 10 + [("cobalt", "birch", "a")]
    >>> ratings = rate(wins)
    >>> [round(ratings[name].rating) for name in ("atlas", "birch")]  # odds of 3 to 1: 191 points apart
    [1095, 905]
    >>> ratings["cobalt"].unrankable.name
    'UNDEFEATED'
    """
    options = options_of(anchor, choices)
    if human is not None:
        _check("human", human)
    sources = _weighed(votes, weights or {}, needs_battle=human is not None)
    rated = systems_of(sources, names_of("systems", systems))
    return rate_votes(
        cast(sources, rated),
        options,
        joint=None if human is None else matched(_with_battles(human), _only(sources), options.policy),
        styled=styled_votes(poll(sources, rated), sources) if _have_style(sources) else None,
        remarks=_remarks(sources),
    )


def _remarks(sources: Sequence[Weighed]) -> tuple[str, ...]:
    silent = sum(weighed.source.without_vote for weighed in sources)
    said = f"{many(silent, 'row')} without an outcome, left out; they are neither votes nor ties"
    return (*((said,) if silent else ()), *remarks_of(sources))


def _weighed(
    votes: VoteSource | Rows | Mapping[str, VoteSource | Rows],
    weights: Mapping[str, float],
    *,
    needs_battle: bool,
) -> tuple[Weighed, ...]:
    named = votes if isinstance(votes, Mapping) else {"votes": votes}
    if usual_columns(tuple(map(str, named))) is not None:
        expected = "a list of rows, a DataFrame, or sources by name"
        raise NotAccepted(f"votes: is {type_named(votes)} with the columns of votes; expected {expected}")
    if weights:
        check_kind("weights", weights, (Kind.MAPPING,), "weights by the name of the source, in a dictionary")
    if unknown := sorted(set(weights) - set(named)):
        raise UnknownSource(f"{unknown[0]!r} is no source; there is {', '.join(named)}")
    if unfit := sorted(name for name, weight in weights.items() if not 0 < weight < float("inf")):
        raise UnknownSource(f"source {unfit[0]!r} has weight {weights[unfit[0]]:g}; expected above 0")
    if not named:
        raise UnusableFile("votes: there is no source")
    for name, given in named.items():
        _check(f"votes[{name!r}]" if isinstance(votes, Mapping) else "votes", given)
    return tuple(
        Weighed(
            replace(_with_battles(given) if needs_battle else _read(given), name=name), weights.get(name, 1.0)
        )
        for name, given in named.items()
    )


def _check(argument: str, given: object) -> None:
    """Check that a source holds votes.

    Raises:
        NotAccepted: It does not; names the type.
    """
    if not isinstance(given, VoteSource):
        check_kind(argument, given, ROWS, "votes: the path of a file, a DataFrame, or a list of rows")


def _read(given: VoteSource | Rows) -> VoteSource:
    return given if isinstance(given, VoteSource) else read_votes(given)


def _with_battles(given: VoteSource | Rows) -> VoteSource:
    source = given if isinstance(given, VoteSource) else read_votes(given, battle=True)
    if any(vote.battle is None for vote in source.votes):
        raise InvalidOption("human", f"{source.file} was read without battles; read_votes(..., battle=True)")
    return source


def _only(sources: Sequence[Weighed]) -> VoteSource:
    if len(sources) > 1:
        raise InvalidOption("human", "corrects one source of automatic votes; rate the others one by one")
    return sources[0].source


def _have_style(sources: Sequence[Weighed]) -> bool:
    measured = {weighed.source.features for weighed in sources}
    if len(measured) > 1:
        raise InvalidOption("votes", "some sources carry amounts of style that others lack")
    return measured != {()}
