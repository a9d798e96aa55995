"""Files of votes and verdicts without the texts, which `nuggetstream rate` takes.

RAGDoll judgments   {qid, assistant_a_run_id, assistant_b_run_id, judge_verdict: "A", "B" or "Tie", status}
AlpacaEval          {instruction, generator_1, generator_2, preference: 1 to 2, the higher the better for 2}
votes               rows with two systems and a winner
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.system_name import one_spelling, system_name
from nuggetstream.files.columns import BATTLE_COLUMNS, outcome_of, usual_columns
from nuggetstream.files.formats.format import FileFormat, Line, RowLine, Sample, Source, lines_of, object_of
from nuggetstream.files.formats.rows import Row, shown
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.record import Record
from nuggetstream.files.submission import InvalidSubmission
from nuggetstream.files.votes import vote_of

VOTES = "votes"
_PAIRS = (
    ("system_a", "system_b"),
    ("model_a", "model_b"),
    ("agent_a", "agent_b"),
    ("left", "right"),
)
_WINNERS = ("winner", "vote", "outcome")
# Columns of files that also have the answers, and are battles.
_TEXTS = ("a", "text_a", "answer_a", "response_a", "conversation_a", "messages_a", "messages")
_EQUAL = 1.5  # the preference of AlpacaEval for neither answer
_VERDICTS = {"A": "a", "B": "b", "Tie": "tie"}


def verdict_row(row: Row, columns: tuple[str, str, str], winner: str | None) -> list[Line]:
    """The verdict of a judge as every format of votes gives it.

    Args:
        row: Row with an object.
        columns: The columns of the query and of both systems.
        winner: The verdict; None where nobody decided.
    """
    record = Record(str(row.line), row.value)
    problems, values = list[str](), list[str]()
    for column in columns:
        try:
            text = record.text(column)
            values.append("" if text is None else system_name(text) if column != columns[0] else text)
            problems += [] if text else [f"{column}: is missing"]
        except UnusableFile as error:
            problems.append(_without_line(error, row))
        except ValueError as error:
            problems.append(f"{column}: {error}")
    if not problems and values[1] == values[2]:
        problems = [f"{columns[2]}: system {values[1]!r} battles itself"]
    if problems:
        raise InvalidSubmission(problems)
    battle, system_a, system_b = values
    fields = {"battle": battle, "system_a": system_a, "system_b": system_b, "winner": winner}
    return [RowLine(row.line, fields)]


def _judgment(row: Row) -> list[Line]:
    columns = ("qid", "assistant_a_run_id", "assistant_b_run_id")
    return verdict_row(row, columns, _judgment_vote(object_of(row))["winner"])


def _judgment_vote(fields: Mapping[str, Any]) -> dict[str, Any]:
    verdict = fields.get("judge_verdict")
    if verdict is not None and not (isinstance(verdict, str) and verdict in _VERDICTS):
        raise InvalidSubmission([f"judge_verdict: is {shown(verdict)}; expected A, B or Tie"])
    return {
        "battle": fields.get("qid"),
        "system_a": fields.get("assistant_a_run_id"),
        "system_b": fields.get("assistant_b_run_id"),
        "winner": None if verdict is None else _VERDICTS[verdict],
    }


def _preference(row: Row) -> list[Line]:
    columns = ("instruction", "generator_1", "generator_2")
    return verdict_row(row, columns, _preference_vote(object_of(row))["winner"])


def _preference_vote(fields: Mapping[str, Any]) -> dict[str, Any]:
    preference = fields.get("preference")
    if preference is not None and not (isinstance(preference, int | float) and 1 <= preference <= 2):
        raise InvalidSubmission([f"preference: is {shown(preference)}; expected a number from 1 to 2"])
    return {
        "battle": fields.get("instruction"),
        "system_a": fields.get("generator_1"),
        "system_b": fields.get("generator_2"),
        "winner": None if preference is None else "tie" if preference == _EQUAL else str(2 - preference),
    }


def _votes(source: Source) -> Iterator[Line]:
    for file in source.files:
        prefix = f"{file.name}:" if len(source.files) > 1 else ""  # of ids, so that no two files share one
        yield from lines_of(source.rows_of(file), partial(_vote, prefix=prefix))


def _vote(row: Row, prefix: str) -> list[Line]:
    """The vote of a row, with all that `nuggetstream rate` reads unless it is told other columns."""
    columns = usual_columns(tuple(object_of(row)))
    if columns is None:
        raise InvalidSubmission(["has no two systems and a winner"])
    record = Record(str(row.line), row.value)
    try:
        vote = vote_of(record, columns)
        a, b = (one_spelling(record.text(column) or "") for column in (columns.a, columns.b))
        battle = next(filter(None, map(record.text, BATTLE_COLUMNS)), f"{prefix}{row.line}")
    except UnusableFile as error:
        raise InvalidSubmission([_without_line(error, row)]) from error
    fields: dict[str, Any] = {"battle": battle, "system_a": a, "system_b": b, "winner": None}
    if vote is not None:
        fields["winner"] = _winner(vote.outcome, a, b, str(record.text(columns.winner)))
    # `rate` reads both of rows without an outcome, too; `vote_of` has checked them.
    if columns.count is not None:
        fields["count"] = int(float(str(record.text(columns.count))))
    if columns.weight is not None:
        fields["weight"] = float(str(record.text(columns.weight)))
    return [RowLine(row.line, fields)]


def _winner(outcome: Vote | float, system_a: str, system_b: str, spelling: str) -> str | float:
    """The outcome as one word or number; the words of the file where a system has that word for a name."""
    word = outcome.value if isinstance(outcome, Vote) else outcome
    try:
        return word if outcome_of(str(word), system_a, system_b) == outcome else spelling
    except ValueError:
        return spelling


def _without_line(error: UnusableFile, row: Row) -> str:
    return str(error).removeprefix(f"{row.line}: ")


def _is_votes(sample: Sample) -> bool:
    systems_and_winner = any(sample.has(*pair) for pair in _PAIRS) and sample.has_any(*_WINNERS)
    return systems_and_winner and not sample.has_any(*_TEXTS)


RAGDOLL_JUDGMENTS = FileFormat(
    name="ragdoll-judgments",
    title="RAGDoll judgments",
    holds=VOTES,
    recognises=lambda sample: sample.has("assistant_a_run_id", "assistant_b_run_id", "judge_verdict"),
    read=lambda source: lines_of(source.rows(), _judgment),
    vote_of=_judgment_vote,
    fields="the verdict of each pair of runs on a query; a failed one has no winner",
    lost="the judge's text, model, tokens and time",
    used_by="nuggetstream rate",
)
ALPACA_EVAL = FileFormat(
    name="alpaca-eval",
    title="AlpacaEval annotations",
    holds=VOTES,
    recognises=lambda sample: sample.has("instruction", "generator_1", "generator_2", "preference"),
    read=lambda source: lines_of(source.rows(), _preference),
    vote_of=_preference_vote,
    fields="the preference of the annotator, as the share of the point that the first generator takes",
    lost="the answers, the annotator and its reply",
    used_by="nuggetstream rate",
)
PLAIN_VOTES = FileFormat(
    name="votes",
    title="votes",
    holds=VOTES,
    recognises=_is_votes,
    read=_votes,
    fields="two systems, a winner or the share of the point that A takes, `count`, `weight` and battle",
    lost="all other columns, which `nuggetstream rate` reads",
    used_by="nuggetstream rate",
)
