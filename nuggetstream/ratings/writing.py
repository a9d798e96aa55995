"""A study as files: strict JSON, and tables that any program reads.

An end that an interval does not have is null or empty, never infinite, and `interval` says why.
"""

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from nuggetstream.ratings.board import Standing
from nuggetstream.ratings.gaps import Gap, Meeting, gaps, meetings
from nuggetstream.ratings.interval import Interval
from nuggetstream.ratings.notes import notes
from nuggetstream.ratings.powered import Powered, Value
from nuggetstream.ratings.study import Study
from nuggetstream.ratings.style import Styled

Json = dict[str, Any]


def write_study(study: Study, out: Path) -> list[Path]:
    """Write ratings.json, ratings.csv, differences.csv and wins.csv; powered.csv where there is one.

    Args:
        study: what was found.
        out: folder, created when missing.

    Returns:
        The files written.

    Raises:
        OSError: the folder or a file cannot be written.
    """
    out.mkdir(parents=True, exist_ok=True)
    rated, policy = study.rated, study.question.method.policy
    text = json.dumps(as_json(study), indent=2, ensure_ascii=False, allow_nan=False)
    (out / "ratings.json").write_text(text + "\n", encoding="utf-8")
    tables: dict[str, tuple[list[str], Iterable[Json]]] = {
        "ratings.csv": (_columns(Standing), map(_flat, rated.standings)),
        "differences.csv": (_columns(Gap), map(_flat, gaps(rated.fitted) if rated.fitted else ())),
        "wins.csv": (_columns(Meeting), map(_flat, meetings(rated.tally, policy))),
    }
    if study.powered:
        tables["powered.csv"] = _POWERED, _powered_rows(study.powered)
    for name, (columns, rows) in tables.items():
        _write_table(out / name, columns, rows)
    return [out / "ratings.json", *(out / name for name in tables)]


def as_json(study: Study) -> Json:
    """Everything that was found, as plain JSON values without infinities."""
    rated = study.rated
    return {
        "rests_on": _rests_on(study),
        "notes": [asdict(note) for note in notes(study)],
        "islands": [list(island) for island in rated.islands],
        "standings": [_flat(standing) for standing in rated.standings],
        "style": _style(study.styled) if study.styled else None,
        "elo": [asdict(played) for played in study.played],
        "won_outright_percent": asdict(study.outright) if study.outright else None,
        "advice": asdict(study.advised) if study.advised else None,
        "powered": _powered(study.powered) if study.powered else None,
    }


def _rests_on(study: Study) -> Json:
    method, fitted, question = study.question.method, study.rated.fitted, study.question
    shares = {share.source: share for share in study.rated.shares}
    bootstrapped = method.intervals.value == "bootstrap"
    return {
        "sources": [
            {
                "name": each.source.name,
                "file": each.source.file,
                "rows": each.source.rows,
                "without_vote": each.source.without_vote,
                "votes": each.source.cast,
                "weight": each.weight,
                "share": shares[each.source.name].share if shares else 1.0,
            }
            for each in study.sources
        ],
        "battles": sum(standing.battles for standing in study.rated.standings) / 2,
        "weighted": study.weighted,
        "where": dict(question.reading.where),
        "cluster": question.reading.named.cluster,
        "clusters": study.clusters,
        "policy": method.policy.value,
        "tie_parameter": fitted.tie if fitted else None,
        "intervals": method.intervals.value,
        "level": method.level,
        "bootstrap": method.bootstrap.value if bootstrapped else None,
        "resamples": method.resamples if bootstrapped else None,
        "unranked_resamples": fitted.ratings.unranked if fitted and bootstrapped else None,
        "seed": method.seed,
        "anchor": asdict(method.anchor) if method.anchor else None,
    }


def _style(styled: Styled) -> Json:
    return {
        "missing": styled.missing,
        "systems": [_flat(each) for each in styled.systems],
        "coefficients": [asdict(each) for each in styled.coefficients],
        "unranked": list(styled.unranked),
    }


def _powered(powered: Powered) -> Json:
    return {
        "humans": powered.humans,
        "automatics": powered.automatics,
        "unmatched": powered.unmatched,
        "notes": list(powered.notes),
        "systems": [
            {
                "system": name,
                "win_rate": _three(asdict(powered.rates[name])),
                "rating": _three(asdict(powered.ratings[name])),
            }
            for name in powered.rates
        ],
    }


def _three(three: Json) -> Json:
    return {
        name: {"value": found["value"], **_named(found["interval"])} if isinstance(found, dict) else found
        for name, found in three.items()
    }


_POWERED = ["system", "quantity", "by", "value", "low", "high", "interval", "trust", "missing"]


def _powered_rows(powered: Powered) -> Iterable[Json]:
    for quantity, found in (("win_rate", powered.rates), ("rating", powered.ratings)):
        for system, three in found.items():
            for by in ("human", "automatic", "combined"):
                value: Value | None = getattr(three, by)
                row: Json = {"system": system, "quantity": quantity, "by": by, "missing": three.missing}
                if value is not None:
                    row |= {"value": value.value, **_named(asdict(value.interval))}
                if by == "combined":
                    row["trust"] = three.trust
                yield row


def _flat(found: Any) -> Json:
    """A dataclass as one level of names; its interval becomes low, high and what they are."""
    row: Json = {}
    for each in fields(found):
        value = getattr(found, each.name)
        row |= _named(asdict(value)) if isinstance(value, Interval) else {each.name: value}
    return row


def _named(ends: Mapping[str, Any]) -> Json:
    return {"low": ends["low"], "high": ends["high"], "interval": ends["extent"].value}


def _columns(kind: type[Any]) -> list[str]:
    names = [each.name for each in fields(kind)]
    if "interval" in names:
        at = names.index("interval")
        names[at : at + 1] = ["low", "high", "interval"]
    return names


def _write_table(path: Path, columns: Sequence[str], rows: Iterable[Json]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
