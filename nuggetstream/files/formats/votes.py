"""Files of votes and verdicts without the texts, which `nuggetstream rate` takes.

RAGDoll judgments   {qid, assistant_a_run_id, assistant_b_run_id, judge_verdict: "A", "B" or "Tie", status}
AlpacaEval          {instruction, generator_1, generator_2, preference: 1 to 2, the higher the better for 2;
                    0 and 1.5 are ties}
MT-bench            {question_id, model_1, model_2, g1_winner, g2_winner}: a pair judged in both orders
votes               rows with two systems and a winner
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.inputs import present
from nuggetstream.domain.system_name import one_spelling, system_name
from nuggetstream.files.columns import BATTLE_COLUMNS, TIME_COLUMNS, Columns, column_in, usual_columns
from nuggetstream.files.formats.format import (
    FileFormat,
    Line,
    Remark,
    RowLine,
    Sample,
    Source,
    lines_of,
    object_of,
)
from nuggetstream.files.formats.rows import Row, shown
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.outcomes import OutcomeWords, UnknownOutcome, winner_text
from nuggetstream.files.record import Record, as_number
from nuggetstream.files.submission import InvalidSubmission
from nuggetstream.files.vote_fields import said_by
from nuggetstream.files.votes import vote_of
from nuggetstream.files.winners import WinnerColumn

VOTES = "votes"
_KEPT = ("lens", "source", "arena", "language")  # columns that tell votes apart
# Columns of files that also have the answers, and are battles.
_TEXTS = ("a", "text_a", "answer_a", "response_a", "conversation_a", "messages_a", "messages")
_EQUAL = (0, 1.5)  # preferences of AlpacaEval for neither answer: 0 in its first releases, 1.5 since
_GAMES = ("g1_winner", "g2_winner")
_GAME_OUTCOMES = {"model_1": "a", "model_2": "b", "tie": "tie", "error": None}
_SECOND = 2  # the preference of AlpacaEval for the second answer
_VERDICTS = {"A": "a", "B": "b", "Tie": "tie"}


def verdict_row(row: Row, columns: tuple[str, str, str], vote: Mapping[str, Any]) -> list[Line]:
    """The verdict of a judge as every format of votes gives it.

    Args:
        row: Row with an object.
        columns: The columns of the query and of both systems.
        vote: The winner, None where nobody decided; and perhaps the voter.
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
    fields = {"battle": battle, "system_a": system_a, "system_b": system_b, "winner": vote["winner"]}
    if (voter := said_by(vote.get("voter"))) is not None:
        fields["voter"] = voter
    return [RowLine(row.line, fields)]


def _judgment(row: Row) -> list[Line]:
    columns = ("qid", "assistant_a_run_id", "assistant_b_run_id")
    return verdict_row(row, columns, _judgment_vote(object_of(row)))


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
    return verdict_row(row, columns, _preference_vote(object_of(row)))


def _preference_vote(fields: Mapping[str, Any]) -> dict[str, Any]:
    given = present(fields.get("preference"))
    preference = None if given is None or isinstance(given, bool) else as_number(given)
    if given is not None and (preference is None or not (preference == 0 or 1 <= preference <= _SECOND)):
        raise InvalidSubmission(
            [f"preference: is {shown(given)}; expected a number from 1 to 2, or 0 for a tie"]
        )
    return {
        "battle": fields.get("instruction"),
        "system_a": fields.get("generator_1"),
        "system_b": fields.get("generator_2"),
        "winner": None
        if preference is None
        else "tie"
        if preference in _EQUAL
        else str(_SECOND - preference),
        "voter": present(fields.get("annotator")),
    }


def _games(row: Row) -> list[Line]:
    columns = ("question_id", "model_1", "model_2")
    return verdict_row(row, columns, _games_vote(object_of(row)))


def _games_vote(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The vote of a judge who saw a pair in both orders: the winner of both games, else a tie.

    Source: Zheng et al., "Judging LLM-as-a-Judge with MT-Bench and Chatbot Arena", 2023.
    """
    for name in _GAMES:
        if not (isinstance(fields.get(name), str) and fields[name] in _GAME_OUTCOMES):
            expected = ", ".join(_GAME_OUTCOMES)
            raise InvalidSubmission([f"{name}: is {shown(fields.get(name))}; expected one of {expected}"])
    games = {_GAME_OUTCOMES[fields[name]] for name in _GAMES}
    return {
        "battle": fields.get("question_id"),
        "system_a": fields.get("model_1"),
        "system_b": fields.get("model_2"),
        "winner": None if None in games else games.pop() if len(games) == 1 else "tie",
        "voter": present(fields.get("judge")),
    }


def _votes(source: Source) -> Iterator[Line]:
    for file in source.files:
        prefix = f"{file.name}:" if len(source.files) > 1 else ""  # of ids, so that no two files share one
        columns = usual_columns(
            tuple(dict.fromkeys(name for record in _records(source, file) for name in record.fields))
        )
        if columns is None:
            yield from lines_of(source.rows_of(file), _no_vote)
            continue
        winners = WinnerColumn.of(file, _records(source, file), columns, source.outcomes, source.missing)
        yield from map(Remark, winners.remarks)
        parse = partial(_vote, prefix=prefix, columns=columns, winners=winners)
        yield from lines_of(source.rows_of(file), parse)


def _no_vote(_: Row) -> list[Line]:
    raise InvalidSubmission(["has no two systems and a winner"])


def _records(source: Source, file: Path) -> Iterator[Record]:
    """The rows of a file that can be read."""
    for row in source.rows_of(file):
        if isinstance(row, Row) and isinstance(row.value, dict):
            yield Record(str(row.line), row.value)


def _vote(row: Row, prefix: str, columns: Columns, winners: WinnerColumn) -> list[Line]:
    """The vote of a row, with all that `nuggetstream rate` reads unless it is told other columns."""
    record, names = Record(str(row.line), object_of(row)), tuple(object_of(row))
    columns = usual_columns(names) or columns  # lines of JSON may differ in their fields
    try:
        vote = vote_of(record, columns, replace(winners, name=columns.winner))
        a, b = (one_spelling(record.text(column) or "") for column in (columns.a, columns.b))
        named = filter(None, (column_in(names, (name,)) for name in BATTLE_COLUMNS))
        battle = next(filter(None, map(record.key, named)), f"{prefix}{row.line}")
    except UnusableFile as error:
        raise InvalidSubmission([_without_line(error, row)]) from error
    fields: dict[str, Any] = {"battle": battle, "system_a": a, "system_b": b, "winner": None}
    if vote is not None:
        fields["winner"] = _winner(vote.outcome, a, b, str(winner_text(record, columns.winner)))
    # `rate` reads both of rows without an outcome, too; `vote_of` has checked them.
    if columns.count is not None:
        fields["count"] = int(float(str(record.text(columns.count))))
    if columns.weight is not None:
        fields["weight"] = float(str(record.text(columns.weight)))
    beside = {"voter": columns.voter, "comment": columns.comment, "time": column_in(names, TIME_COLUMNS)}
    beside |= {name: column_in(names, (name,)) for name in _KEPT}
    for name, column in beside.items():
        if column is not None and (value := said_by(record.value(column))) is not None:
            fields[name] = value
    return [RowLine(row.line, fields)]


def _winner(outcome: Vote | float, system_a: str, system_b: str, spelling: str) -> str | float:
    """The outcome as one word or number; the words of the file where a system has that word for a name."""
    word = outcome.value if isinstance(outcome, Vote) else outcome
    try:
        return word if OutcomeWords().outcome(str(word), system_a, system_b) == outcome else spelling
    except UnknownOutcome:
        return spelling


def _without_line(error: UnusableFile, row: Row) -> str:
    return str(error).removeprefix(f"{row.line}: ")


def _is_votes(sample: Sample) -> bool:
    if not isinstance(sample.value, dict) or sample.has_any(*_TEXTS):
        return False
    return usual_columns(tuple(sample.value)) is not None


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
    fields="the preference of the annotator, as the share of the point that the first generator takes; 0 and "
    "1.5 are ties; the annotator",
    lost="the answers and the reply of the annotator",
    used_by="nuggetstream rate",
)
MT_BENCH_PAIRS = FileFormat(
    name="mt-bench-pairs",
    title="MT-bench, judgments of pairs",
    holds=VOTES,
    recognises=lambda sample: sample.has("model_1", "model_2", *_GAMES),
    read=lambda source: lines_of(source.rows(), _games),
    vote_of=_games_vote,
    fields="the winner of both games of a pair, else a tie; one with an error has no winner; the judge",
    lost="prompts and replies of the judge, turn, time",
    used_by="nuggetstream rate",
)
PLAIN_VOTES = FileFormat(
    name="votes",
    title="votes",
    holds=VOTES,
    recognises=_is_votes,
    read=_votes,
    fields="two systems, a winner or the share of the point that A takes, `count`, `weight`, battle, voter, "
    "comment, time, lens, source, arena and language",
    lost="all other columns, which `nuggetstream rate` reads",
    used_by="nuggetstream rate",
)
