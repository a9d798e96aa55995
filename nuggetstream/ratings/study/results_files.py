"""A study of votes as files: strict JSON, and tables that any program reads.

A bound that an interval does not have is null or empty, never infinite, and `interval_state` names the state.
"""

from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from nuggetstream.files.writing import write_json, write_table
from nuggetstream.ratings.combined import Combined
from nuggetstream.ratings.combined_standing import Rating
from nuggetstream.ratings.comparison import Gap, Meeting
from nuggetstream.ratings.joint import JointVotes
from nuggetstream.ratings.model import Ratings
from nuggetstream.ratings.options import Intervals
from nuggetstream.ratings.pairwise import gaps, meetings
from nuggetstream.ratings.standing import BoardState, Standing
from nuggetstream.ratings.study.run import Study
from nuggetstream.ratings.style import EqualStyle
from nuggetstream.ratings.timeline import Period
from nuggetstream.ratings.win_rates import Share, WinRates, win_rates

Json = dict[str, Any]

_WAYS = ("human", "automatic", "combined")
_COMBINED = ["system", "quantity", "by", "value", "low", "high", "interval_state", "lambda", "unrankable"]


def write_study(study: Study, out: Path) -> list[Path]:
    """Write ratings.json, ratings.csv, differences.csv, wins.csv and what else was asked for.

    Args:
        study: The results.
        out: Folder, created when missing.

    Returns:
        The files written.

    Raises:
        OSError: The folder or a file cannot be written.
    """
    out.mkdir(parents=True, exist_ok=True)
    ratings, policy = study.ratings, study.options.rating.policy
    rows_of_gaps = gaps(ratings.fit) if ratings.fit else ()
    written = [
        write_json(out / "ratings.json", as_json(study)),
        write_table(out / "ratings.csv", _columns(Standing), map(asdict, ratings.standings)),
        write_table(out / "differences.csv", _columns(Gap), map(asdict, rows_of_gaps)),
        write_table(out / "wins.csv", _columns(Meeting), map(asdict, meetings(ratings.tally, policy))),
    ]
    if ratings.joint is not None and ratings.combined is not None:
        rows = _combined_rows(ratings.joint, ratings.combined)
        written.append(write_table(out / "combined.csv", _COMBINED, rows))
    if study.periods:
        columns = ["start", "end", "votes", *_columns(Standing)]
        written.append(write_table(out / "over_time.csv", columns, _period_rows(study)))
    return written


def as_json(study: Study) -> Json:
    """The study as plain JSON values without infinities."""
    ratings = study.ratings
    return {
        "rests_on": _rests_on(study),
        "state": ratings.state.value,
        "notes": [asdict(note) for note in ratings.notes],
        "islands": [list(island) for island in ratings.islands],
        "standings": [asdict(standing) for standing in ratings.standings],
        "fragility": asdict(ratings.fragility) if ratings.fit else None,
        "over_time": [_period(period) for period in study.periods],
        "style": _style(ratings.equal_style) if ratings.equal_style else None,
        "elo": [asdict(tournament) for tournament in study.tournaments],
        "won_outright_percent": asdict(study.outright) if study.outright else None,
        "advice": asdict(study.advice) if study.advice else None,
        "combined": _combined(study),
    }


def _rests_on(study: Study) -> Json:
    ratings, options, asked = study.ratings, study.ratings.options, study.options
    shares = {share.source: share for share in ratings.shares}
    bootstrapped = options.source is Intervals.BOOTSTRAP
    return {
        "sources": [
            {
                "name": weighed.source.name,
                "file": weighed.source.file,
                "rows": weighed.source.rows,
                "without_vote": weighed.source.without_vote,
                "votes": weighed.source.cast,
                "weight": weighed.weight,
                "share": shares[weighed.source.name].share if shares else 1.0,
            }
            for weighed in study.sources
        ],
        "battles": sum(standing.battles for standing in ratings.standings) / 2,
        "weighted": study.weighted,
        "where": dict(asked.reading.where),
        "cluster": asked.reading.columns.cluster,
        "clusters": study.clusters,
        "policy": options.policy.value,
        "tie_parameter": ratings.tie_parameter,
        "intervals": options.source.value,
        "level": options.level,
        "bootstrap": options.drawing.value if bootstrapped else None,
        "resamples": options.draws if bootstrapped else None,
        "unranked_resamples": ratings.unranked_resamples if ratings.fit and bootstrapped else None,
        "seed": options.seed,
        "anchor": asdict(options.anchor) if options.anchor else None,
        "prior": options.prior,
        "ridge": options.ridge,
        "provisional_below": options.provisional_below,
    }


def _period(period: Period[Ratings]) -> Json:
    ratings = period.rating
    return {
        "start": period.start.isoformat(),
        "end": period.end.isoformat(),
        "votes": period.votes,
        "state": BoardState.EMPTY.value if ratings is None else ratings.state.value,
        "standings": [] if ratings is None else [asdict(standing) for standing in ratings.standings],
    }


def _period_rows(study: Study) -> Iterable[Json]:
    for period in study.periods:
        span = {"start": period.start.isoformat(), "end": period.end.isoformat(), "votes": period.votes}
        for standing in period.rating.standings if period.rating else ():
            yield span | asdict(standing)


def _style(styled: EqualStyle) -> Json:
    return {
        "missing": styled.missing,
        "systems": [asdict(standing) for standing in styled.standings],
        "coefficients": [asdict(coefficient) for coefficient in styled.coefficients],
        "unranked": list(styled.unranked),
    }


def _combined(study: Study) -> Json | None:
    joint, combined = study.ratings.joint, study.ratings.combined
    if joint is None or combined is None:
        return None
    rates = {rate.system: rate for rate in win_rates(joint, combined.options.level)}
    return {
        "state": combined.state.value,
        "note": combined.note,
        "battles_with_both": joint.both,
        "battles_with_automatic_only": joint.automatics - joint.both,
        "human_votes_unused": combined.human_votes_unused,
        "lambda": combined.tuning,
        "systems": [
            {
                "system": standing.system,
                "unrankable": standing.unrankable.value if standing.unrankable else None,
                "win_rate": _rates(rates[standing.system]),
                "rating": {way: _value(getattr(standing, way)) for way in _WAYS},
            }
            for standing in combined.standings
        ],
    }


def _rates(rate: WinRates) -> Json:
    shares = {way: _value(getattr(rate, way)) for way in _WAYS}
    return shares | {"lambda": rate.tuning, "both": rate.both, "automatic_only": rate.automatic_only}


def _value(estimate: Share | Rating | None) -> Json | None:
    if estimate is None:
        return None
    value = estimate.rating if isinstance(estimate, Rating) else estimate.value
    return {
        "value": value,
        "low": estimate.low,
        "high": estimate.high,
        "interval_state": estimate.interval_state,
    }


def _combined_rows(joint: JointVotes, combined: Combined) -> Iterable[Json]:
    rates = {rate.system: rate for rate in win_rates(joint, combined.options.level)}
    for standing in combined.standings:
        reason = standing.unrankable.value if standing.unrankable else None
        rate = rates[standing.system]
        for quantity, estimates, tuning in (
            ("win_rate", rate, rate.tuning),
            ("rating", standing, combined.tuning),
        ):
            for way in _WAYS:
                row: Json = {"system": standing.system, "quantity": quantity, "by": way}
                row |= _value(getattr(estimates, way)) or {}
                if way == "combined":
                    row["lambda"] = tuning
                yield row | {"unrankable": reason if quantity == "rating" else None}


def _columns(kind: type[Any]) -> list[str]:
    return [item.name for item in fields(kind)]
