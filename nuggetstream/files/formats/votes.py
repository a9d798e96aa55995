"""Files of votes and verdicts without the texts, which `nuggetstream rate` takes.

RAGDoll judgments   {qid, assistant_a_run_id, assistant_b_run_id, judge_verdict: "A", "B" or "Tie", status}
votes               rows with two systems and a winner
"""

from collections.abc import Iterator

from nuggetstream.domain.system_name import one_spelling
from nuggetstream.files.dataset import BadLine
from nuggetstream.files.formats.format import FileFormat, Line, RowLine, Sample, Source
from nuggetstream.files.formats.rows import shown
from nuggetstream.files.spellings import spelt_vote

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
_VERDICTS = {"A": "a", "B": "b", "Tie": "tie"}


def vote_row(line: int, battle: str, system_a: str, system_b: str, winner: str | None) -> RowLine:
    """A vote as every format of votes gives it; the winner is None where nobody decided."""
    return RowLine(line, {"battle": battle, "system_a": system_a, "system_b": system_b, "winner": winner})


def _judgments(source: Source) -> Iterator[Line]:
    for row in source.rows():
        if isinstance(row, BadLine):
            yield row
            continue
        if not isinstance(row.value, dict):
            yield BadLine(row.line, ("is not a JSON object",))
            continue
        names = ("qid", "assistant_a_run_id", "assistant_b_run_id")
        values = [row.value.get(name) for name in names]
        if lost := [name for name, value in zip(names, values, strict=True) if value is None]:
            yield BadLine(row.line, tuple(f"{name}: is missing" for name in lost))
            continue
        verdict = row.value.get("judge_verdict")
        if verdict is not None and verdict not in _VERDICTS:
            yield BadLine(row.line, (f"judge_verdict: is {shown(verdict)}; expected A, B or Tie",))
            continue
        topic, system_a, system_b = map(str, values)
        yield vote_row(row.line, topic, system_a, system_b, None if verdict is None else _VERDICTS[verdict])


def _votes(source: Source) -> Iterator[Line]:
    for row in source.rows():
        if isinstance(row, BadLine):
            yield row
            continue
        fields = row.value if isinstance(row.value, dict) else {}
        pair = next((pair for pair in _PAIRS if fields.keys() >= set(pair)), None)
        column = next((name for name in _WINNERS if name in fields), None)
        if pair is None or column is None:
            yield BadLine(row.line, ("has no two systems and a winner",))
            continue
        system_a, system_b, said = str(fields[pair[0]]), str(fields[pair[1]]), fields[column]
        winner = None if said in (None, "") else _winner(str(said), system_a, system_b)
        if winner == "":
            yield BadLine(
                row.line, (f"{column}: is {shown(said)}; expected a, b, tie, both_bad or a system",)
            )
            continue
        battle = str(fields.get("battle_id") or fields.get("battle") or fields.get("question_id") or row.line)
        yield vote_row(row.line, battle, system_a, system_b, winner)


def _winner(said: str, system_a: str, system_b: str) -> str:
    """The vote; empty where it is none."""
    sides = {one_spelling(system_a): "a", one_spelling(system_b): "b"}
    if (side := sides.get(one_spelling(said))) is not None:
        return side
    vote = spelt_vote(said)
    return "" if vote is None else vote.value


def _is_votes(sample: Sample) -> bool:
    systems_and_winner = any(sample.has(*pair) for pair in _PAIRS) and sample.has_any(*_WINNERS)
    return systems_and_winner and not sample.has_any(*_TEXTS)


RAGDOLL_JUDGMENTS = FileFormat(
    name="ragdoll-judgments",
    title="RAGDoll judgments",
    holds=VOTES,
    recognises=lambda sample: sample.has("assistant_a_run_id", "assistant_b_run_id", "judge_verdict"),
    read=_judgments,
    fields="the verdict of each pair of runs on a query; a failed one has no winner",
    lost="the judge's text, model, tokens and time",
    used_by="nuggetstream import, then nuggetstream rate",
)
PLAIN_VOTES = FileFormat(
    name="votes",
    title="votes",
    holds=VOTES,
    recognises=_is_votes,
    read=_votes,
    fields="two systems and a winner per row",
    lost="all other columns, which `nuggetstream rate` reads",
    used_by="nuggetstream rate",
)
