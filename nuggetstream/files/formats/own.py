"""Battles of ours, of earlier results, and of CrowdRAG-25.

nuggetstream   one submission per row, as `POST /v1/battles` takes it, or in one of the shapes of `shapes`
results        results.jsonl of `nuggetstream eval`, or the JSON of `GET /v1/battles/{id}`
crowdrag25     citations name documents of a second file, gold labels per dimension
"""

from collections.abc import Mapping
from typing import Any

from nuggetstream.domain.battle import Vote
from nuggetstream.files.dataset import OVERALL, VOTE, Read
from nuggetstream.files.formats.format import BATTLES, FileFormat, Sample, Source, checked, object_of
from nuggetstream.files.formats.pairing import source_of
from nuggetstream.files.formats.rows import Container, Row, shown
from nuggetstream.files.shapes import translated
from nuggetstream.files.submission import InvalidSubmission, parse_submission, parse_submission_json

_GOLD = {"a": Vote.A, "b": Vote.B, "n": Vote.TIE}
_QUERIES = ("query", "question", "prompt", "messages", "messages_a", "conversation_a")
_ANSWERS = (
    "a",
    "b",
    "model_a",
    "model_b",
    "system_a",
    "system_b",
    "agent_a",
    "agent_b",
    "response_a",
    "answer_a",
)


def _nuggetstream(row: Row, source: Source) -> Read:
    if row.raw is None:
        fields = object_of(row)
        if source.container is Container.CSV:  # which writes what is missing as an empty cell
            fields = {name: value for name, value in fields.items() if value != ""}
        return checked(fields)
    submission = parse_submission_json(row.raw)
    return submission, {} if submission.vote is None else {VOTE: submission.vote}


def _own_vote(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The vote of a battle whose answers are objects; others have the columns of votes."""
    if not isinstance(fields.get("a"), Mapping):
        return {}
    translation = translated(dict(fields))
    if translation is not None and translation.problems:
        raise InvalidSubmission(translation.problems)
    battle = fields if translation is None else translation.battle
    return {"battle": battle.get("id"), **_systems(battle), "winner": battle.get("vote")}


def _systems(battle: Mapping[str, Any]) -> dict[str, Any]:
    answers = {side: battle.get(side) for side in "ab"}
    return {
        f"system_{side}": answer.get("system") if isinstance(answer, Mapping) else None
        for side, answer in answers.items()
    }


def _results(row: Row, _: Source) -> Read:
    fields = object_of(row)
    kept = ("id", "arena", "query", "language", "tags", "conversation")
    battle = {name: fields.get(name) for name in kept} | {"vote": fields.get("human_vote")}
    submission, vote = checked(battle | {side: _answer(fields.get(side), side) for side in "ab"})
    reference = fields.get("reference")
    if not isinstance(reference, dict):
        return submission, vote
    try:
        return submission, {**vote, **{name: Vote(winner) for name, winner in reference.items()}}
    except ValueError as error:
        raise InvalidSubmission([f"reference: {error}"]) from error


def _answer(answer: Any, side: str) -> Any:
    if not isinstance(answer, dict):
        return answer
    sources = _list(answer, "sources", side)
    pages = [_page(source, f"{side}.sources") for source in sources if isinstance(source, dict)]
    kept = {name: answer[name] for name in ("system", "text", "conversation") if name in answer}
    return kept | {"sources": pages}


def _page(source: Mapping[str, Any], where: str) -> dict[str, Any]:
    page = {name: source[name] for name in ("url", "title") if source.get(name)}
    names = {"text": "snippet", "start": "start", "end": "end"}
    passages = [
        {ours: cited[name] for name, ours in names.items() if cited.get(name) is not None}
        for cited in _list(source, "cited", where)
        if isinstance(cited, dict)
    ]
    return page | ({"passages": passages} if passages else {})


def _crowdrag25(row: Row, source: Source) -> Read:
    fields = object_of(row)
    if not isinstance(fields.get("gold"), dict):
        raise InvalidSubmission(["gold: is not an object of labels"])
    gold = {name: _gold(name, label) for name, label in fields["gold"].items()}
    overall = gold.get(OVERALL)
    battle = {
        "id": fields.get("battle_id"),
        "arena": "crowdrag25",
        "query": fields.get("query"),
        "language": "en",
        "a": _cited(fields.get("a"), "a", source.documents),
        "b": _cited(fields.get("b"), "b", source.documents),
        "vote": overall.value if overall else None,
    }
    return parse_submission(battle), gold


def _crowdrag25_vote(fields: Mapping[str, Any]) -> dict[str, Any]:
    gold = fields.get("gold")
    if not isinstance(gold, Mapping):
        return {}  # votes with a column of that name
    label = gold.get(OVERALL)
    winner = None if label is None else _gold(OVERALL, label).value
    return {"battle": fields.get("battle_id"), **_systems(fields), "winner": winner}


def _gold(name: str, label: object) -> Vote:
    if not isinstance(label, str) or label not in _GOLD:
        raise InvalidSubmission([f"gold.{name}: is {label!r}; expected one of a, n, b"])
    return _GOLD[label]


def _cited(answer: Any, side: str, documents: Mapping[str, str]) -> Any:
    if not isinstance(answer, dict):
        return answer
    names = list(dict.fromkeys(map(str, _list(answer, "citations", side))))
    if lost := [name for name in names if name not in documents]:
        problem = f"{side}.citations: {len(lost)} of {len(names)} documents are missing, such as {lost[0]!r}"
        raise InvalidSubmission([f"{problem}; name their file with --documents"])
    sources = [source_of(name, documents[name]) for name in names]
    return {"system": answer.get("system"), "text": answer.get("text"), "sources": sources}


def _list(fields: Mapping[str, Any], name: str, where: str) -> list[Any]:
    """A list in an object; empty where it is missing.

    Raises:
        InvalidSubmission: It is something else.
    """
    value = fields.get(name) or []
    if not isinstance(value, list):
        raise InvalidSubmission([f"{where}.{name}: is {shown(value)}; expected a list"])
    return value


def _may_be_battles(sample: Sample) -> bool:
    """Whether a row may be meant as a battle; lines of JSON that cannot be read are named one by one."""
    if isinstance(sample.value, dict) and sample.value:
        return sample.has_any(*_QUERIES, *_ANSWERS) and not sample.has("passage", "judgment")
    return sample.container in (Container.JSONL, Container.JSON)


CROWDRAG25 = FileFormat(
    name="crowdrag25",
    title="CrowdRAG-25",
    holds=BATTLES,
    recognises=lambda sample: sample.has("gold"),
    battle_of=_crowdrag25,
    vote_of=_crowdrag25_vote,
    fields="query, answers, gold labels per dimension; cited documents with --documents",
)
RESULTS = FileFormat(
    name="results",
    title="results of nuggetstream eval",
    holds=BATTLES,
    recognises=lambda sample: sample.has("nugget_verdict", "judgments"),
    battle_of=_results,
    fields="query, conversation, answers, URLs and cited passages of sources, vote, references",
    lost="texts of sources, nuggets, labels and verdicts, which are made anew",
)
NUGGETSTREAM = FileFormat(
    name="nuggetstream",
    title="Nuggetstream",
    holds=BATTLES,
    recognises=_may_be_battles,
    battle_of=_nuggetstream,
    vote_of=_own_vote,
    fields="everything; also under the names that others use, see docs/api/battles.md",
)
