"""A battle as arenas send it: checked once, with errors that name the field, whatever door it comes by."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, fields, replace
from typing import Annotated, Any
from unicodedata import category

from pydantic import (
    AfterValidator,
    Field,
    ValidationError,
    model_validator,
)

from nuggetstream.domain.battle import Answer, Battle, Vote
from nuggetstream.domain.conversation import user_turns
from nuggetstream.domain.human_vote import HumanVote
from nuggetstream.domain.identity import derived_id
from nuggetstream.domain.system_name import system_name
from nuggetstream.files.conversation import Conversation, turns_of
from nuggetstream.files.fields import EMPTY_IS_ABSENT, Name, Strict, Text, at_most, few, not_blank
from nuggetstream.files.json_bounds import TooManyValues, check_bounds
from nuggetstream.files.shapes import EXPECTED, WORDS, translated
from nuggetstream.files.sources import MAX_PASSAGES, SourceSubmission, sources_of
from nuggetstream.files.vote_submission import Comment, Voter
from nuggetstream.text.reasoning import Parted, parted

MAX_ANSWER_BYTES = 200_000
MAX_QUERY_BYTES = 20_000
MAX_SOURCES = 100
MAX_TAGS = 20  # counters are kept per tag
_PROBLEMS_TOLD = 1_000
_OWN_NAMES: Mapping[str, str] = {}


class InvalidSubmission(ValueError):
    """A battle that cannot be accepted; says which field and why, one problem per line."""

    def __init__(self, problems: Iterable[str]) -> None:
        self.problems = list(problems)
        super().__init__("; ".join(self.problems))


SystemName = Annotated[Name, AfterValidator(system_name), Field(max_length=200)]


def _can_be_asked_for(name: str) -> str:
    """An id is part of a path: what a path cannot say would be accepted and never found again."""
    if any(category(character) == "Cc" for character in name):
        raise ValueError("contains a control character")
    if {".", ".."} & set(name.split("/")) or name.endswith(("/events", "/calls")):
        raise ValueError(
            'is no path that can be asked for: "." and ".." are no parts, "/events" and "/calls" no end'
        )
    return name


class AnswerSubmission(Strict):
    """What one system said. An empty text is a valid, bad answer."""

    system: SystemName
    text: Annotated[Text, at_most(MAX_ANSWER_BYTES)]
    sources: Annotated[tuple[SourceSubmission, ...], Field(max_length=MAX_SOURCES), few(MAX_SOURCES)] = ()
    conversation: Conversation = ()
    reasoning: Annotated[Annotated[Text, at_most(MAX_ANSWER_BYTES)] | None, EMPTY_IS_ABSENT] = None

    @property
    def parts(self) -> Parted:
        """The answer alone, and the reasoning in its text or beside it."""
        parts = parted(self.text)
        reasoning = "\n\n".join(filter(None, (self.reasoning, parts.reasoning)))
        return replace(parts, reasoning=reasoning or None)

    @model_validator(mode="after")
    def _cites_few_passages(self) -> "AnswerSubmission":
        for source in sources_of(self.sources):
            if (number := len(source.cited)) > MAX_PASSAGES:
                limit = f"at most {MAX_PASSAGES} are accepted"
                raise ValueError(f"sources: {source.url} has {number} cited passages; {limit}")
        return self

    def to_core(self) -> Answer:
        """The answer without its reasoning; a source named twice counts once."""
        parts = self.parts
        return Answer(
            system=self.system,
            text=parts.answer,
            sources=sources_of(self.sources),
            conversation=turns_of(self.conversation),
            reasoning=parts.reasoning,
        )


class BattleSubmission(Strict):
    """One battle as it comes in; `id` is derived from the content when absent."""

    id: Annotated[Name, AfterValidator(_can_be_asked_for)] | None = None
    arena: Name = "default"
    query: Annotated[Text, at_most(MAX_QUERY_BYTES), AfterValidator(not_blank)]
    a: AnswerSubmission
    b: AnswerSubmission
    language: Annotated[Annotated[Text, Field(max_length=35)] | None, EMPTY_IS_ABSENT] = None
    tags: Annotated[tuple[Name, ...], Field(max_length=MAX_TAGS), few(MAX_TAGS)] = ()
    vote: Vote | None = None
    voter: Voter = None
    comment: Comment = None
    conversation: Conversation = ()

    @model_validator(mode="after")
    def _has_a_vote(self) -> "BattleSubmission":
        without = [name for name in ("voter", "comment") if getattr(self, name) is not None]
        if without and self.vote is None:
            raise ValueError(f"{' and '.join(without)}: without a vote; send the vote, too, or leave it out")
        return self

    @model_validator(mode="after")
    def _is_a_battle(self) -> "BattleSubmission":
        if self.a.system == self.b.system:
            raise ValueError(f"system {self.a.system!r} battles itself")
        if not self.a.parts.answer.strip() and not self.b.parts.answer.strip():
            raise ValueError("both answers are empty: there is nothing to compare")
        return self

    @model_validator(mode="after")
    def _is_one_conversation(self) -> "BattleSubmission":
        own = turns_of(self.a.conversation), turns_of(self.b.conversation)
        if self.conversation and any(own):
            raise ValueError("conversation: is given for the battle and for an answer; which one is meant?")
        if user_turns(own[0]) != user_turns(own[1]):
            raise ValueError("a.conversation and b.conversation: the turns of the user differ")
        return self

    @property
    def human_vote(self) -> HumanVote | None:
        """The vote that comes with the battle."""
        return None if self.vote is None else HumanVote(self.vote, self.voter, self.comment)

    def to_core(self) -> Battle:
        """The battle. Where both answers have the same conversation, it is that of the battle."""
        a, b, shared = self.a.to_core(), self.b.to_core(), turns_of(self.conversation)
        if a.conversation == b.conversation:
            shared = shared or a.conversation
            a, b = replace(a, conversation=()), replace(b, conversation=())
        given = {field.name: getattr(self, field.name) for field in fields(Battle)}
        battle = Battle(**given | {"id": self.id or "", "a": a, "b": b, "conversation": shared})
        if self.id:
            return battle
        return replace(battle, id=derived_id("battle", battle.content_hash()))


def parse_submission(data: Any) -> BattleSubmission:
    """Check a decoded JSON value.

    Raises:
        InvalidSubmission: naming every field that is wrong and why.
    """
    try:
        return BattleSubmission.model_validate(data)
    except ValidationError as error:
        return _in_another_shape(data, error)


def parse_submission_json(line: str | bytes) -> BattleSubmission:
    """Check a battle written as JSON.

    Raises:
        InvalidSubmission: also where the text is not JSON at all, with the place where it breaks.
    """
    try:
        check_bounds(line if isinstance(line, bytes) else line.encode("utf-8", "replace"))
        return BattleSubmission.model_validate_json(line)
    except TooManyValues as error:
        raise InvalidSubmission([str(error)]) from None
    except ValidationError as error:
        if any(detail["type"] == "json_invalid" for detail in error.errors(include_input=False)):
            raise InvalidSubmission(_problems(error)) from None
        return _in_another_shape(json.loads(line), error)


def _in_another_shape(data: Any, error: ValidationError) -> BattleSubmission:
    """A battle that is none of ours, in the shape of another project.

    Raises:
        InvalidSubmission: It has none of the known shapes; names what is wrong and what was expected.
    """
    translation, battle, names = translated(data), data, _OWN_NAMES
    if translation is not None:
        battle, names = translation.battle, translation.names
        if translation.problems:
            raise InvalidSubmission(translation.problems) from None
        try:
            return BattleSubmission.model_validate(battle)
        except ValidationError as invalid:
            error = invalid
    unknown = isinstance(battle, dict) and not battle.keys() & {"query", "a", "b"}
    raise InvalidSubmission([*_problems(error, names), *([EXPECTED] if unknown else [])]) from None


def submission_of(
    battle: Battle, vote: Vote | None, voter: str | None = None, comment: str | None = None
) -> BattleSubmission:
    """A battle that came as protobuf, under the same checks.

    Raises:
        InvalidSubmission: naming every field that is wrong and why.
    """
    data = asdict(battle) | {"id": battle.id or None, "arena": battle.arena or "default"}
    data |= {"vote": vote, "voter": voter, "comment": comment}
    return parse_submission(data)


def _problems(error: ValidationError, names: Mapping[str, str] = _OWN_NAMES) -> list[str]:
    details = error.errors(include_url=False, include_input=False)
    problems = [_problem(detail, names) for detail in details[:_PROBLEMS_TOLD]]
    more = len(details) - len(problems)
    return [*problems, f"{more:,} more problems"] if more else problems


def _problem(detail: Any, names: Mapping[str, str]) -> str:
    where = ".".join(str(part) for part in detail["loc"])
    ours = next((name for name in names if where == name or where.startswith(f"{name}.")), "")
    where = names.get(ours, "") + where.removeprefix(ours)
    what = detail["msg"].removeprefix("Value error, ")
    match detail["type"]:
        case "missing":
            what = "is missing"
        case "extra_forbidden":
            what = "is not a field of a battle"
        case "too_long":
            limits = detail["ctx"]
            what = f"is {limits['actual_length']} long; at most {limits['max_length']} are accepted"
        case "model_type" | "model_attributes_type":
            what = "should be an object"
        case "enum" if where in ("vote", "winner"):
            what = WORDS
        case "json_invalid":
            what = what.replace("Invalid JSON", "is not valid JSON")
    return f"{where}: {what}" if where else what
