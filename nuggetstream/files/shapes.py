"""Battles in the shapes that other projects write, as battles of ours.

    model_a, response_a, winner       other names for what we call system and text, in one object or in two
    conversation_a, conversation_b    Chatbot Arena: conversations that end with the query and an answer
    messages                          the OpenAI API: `content` instead of `text`, also in parts of type text

Only what is no battle of ours is looked at, so battles of ours cost nothing. What can be read in two ways is
a problem, and no guess. What is not recognised stays as it is, so that the check of battles names it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nuggetstream.domain.system_name import one_spelling
from nuggetstream.files.spellings import sent_vote

_BATTLE = {
    "id": ("id", "battle_id", "question_id"),
    "query": ("query", "question", "prompt"),
    "vote": ("vote", "winner"),
    "voter": ("voter", "voter_id", "user_id", "annotator"),
    "comment": ("comment",),
    "conversation": ("conversation", "messages"),
}
_ANSWER = {
    "system": ("system", "model", "agent"),
    "text": ("text", "answer", "response"),
    "sources": ("sources",),
    "conversation": ("conversation", "messages"),
    "reasoning": ("reasoning", "reasoning_content"),
}
# What Chatbot Arena says of a battle beside the battle; it changes nothing here.
_ARENA_FIELDS = frozenset(
    (
        "anony", "category_tag", "conv_metadata", "dedup_tag", "is_code", "is_refusal", "judge", "judge_hash",
        "openai_moderation", "timestamp", "toxic_chat_tag", "tstamp",
    )
)  # fmt: skip
_TEXT_PARTS = ("text", "input_text", "output_text")
EXPECTED = (
    "expected query, a and b with system and text; or model_a, response_a, model_b, response_b and query; or "
    "model_a, conversation_a, model_b and conversation_b"
)
WORDS = (
    "expected a, b, tie or both_bad, another word for one of them (such as model_a, draw or tie (bothbad)), "
    "or the name of a system"
)

Fields = dict[str, Any]


@dataclass(slots=True)
class Translation:
    """A battle in our shape, as far as it was recognised.

    Attributes:
        battle: The battle.
        names: Field of ours, such as "a.text" -> the name that it had.
        problems: What can be read in two ways, or not at all.
    """

    battle: Fields
    names: dict[str, str] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def take(self, ours: str, values: Mapping[str, Any], into: Fields) -> None:
        """Take over a field, by the one name of those found that has a value.

        Args:
            ours: Our name, such as "a.text".
            values: Value by the name that it had.
            into: The object that gets the field.
        """
        given = {name: value for name, value in values.items() if value is not None}
        if len(given) > 1:
            self.problems.append(f"{' and '.join(given)}: mean the same; which one counts?")
        for name, value in given.items():
            into[ours.rpartition(".")[2]] = value
            self.names[ours] = name

    def name(self, ours: str) -> str:
        """The name that a field of ours had."""
        return self.names.get(ours, ours)


def translated(data: Any) -> Translation | None:
    """A battle of another shape as one of ours; None for what is no object, and for what has our shape."""
    if not isinstance(data, dict):
        return None
    rest, battle = dict(data), Fields()
    translation = Translation(battle)
    for ours, others in _BATTLE.items():
        translation.take(ours, {name: rest.pop(name) for name in others if name in rest}, battle)
    turn = None
    if "conversation_a" in rest:
        turn = rest.pop("turn", None)
        if battle.get("vote") is not None and "voter" not in battle and isinstance(rest.get("judge"), str):
            battle["voter"], translation.names["voter"] = rest["judge"], "judge"
        rest = {name: value for name, value in rest.items() if name not in _ARENA_FIELDS}
    for side in "ab":
        _take_answer(translation, rest, side)
    battle.update(rest)
    _read_messages(translation, turn)
    _read_vote(translation)
    return None if battle == data else translation


def _take_answer(translation: Translation, rest: Fields, side: str) -> None:
    """Take over an answer: an object, or fields of the battle with the side after their names."""
    own = rest.pop(side, None)
    if own is not None and not isinstance(own, dict):
        translation.battle[side] = own
        return
    inner, answer = dict(own or {}), Fields()
    for ours, others in _ANSWER.items():
        given = {f"{side}.{name}": inner.pop(name) for name in others if name in inner}
        given |= {f"{name}_{side}": rest.pop(f"{name}_{side}") for name in others if f"{name}_{side}" in rest}
        translation.take(f"{side}.{ours}", given, answer)
    if own is not None or answer:
        translation.battle[side] = answer | inner


def _read_messages(translation: Translation, turn: Any) -> None:
    """Turns in our form; where query or answer are missing, they are the last messages.

    Args:
        translation: The battle.
        turn: Number of the last turn, as Chatbot Arena says it; None where nobody says it.
    """
    battle, queries = translation.battle, dict[str, Any]()
    for side in "ab":
        answer = battle.get(side)
        if isinstance(answer, dict) and "conversation" in answer:
            name = translation.name(f"{side}.conversation")
            answer["conversation"] = turns = _turns(translation, name, answer["conversation"])
            asked = _messages_of_user(turns)
            if turn is not None and turn != asked:
                translation.problems.append(f"turn: is {turn!r}, but {name} has {asked} messages of the user")
            if "text" not in answer:
                answer["text"], translation.names[f"{side}.text"] = (
                    _last(translation, turns, name, "assistant"),
                    name,
                )
                queries[name] = _last(translation, turns, name, "user")
    if "conversation" in battle:
        name = translation.name("conversation")
        battle["conversation"] = turns = _turns(translation, name, battle["conversation"])
        if "query" not in battle and not queries:
            queries[name] = _last(translation, turns, name, "user")
    if queries and "query" in battle:
        queries[translation.name("query")] = battle["query"]
    texts = {name: query for name, query in queries.items() if query is not None}
    if len(set(map(str, texts.values()))) > 1:
        translation.problems.append(f"{' and '.join(texts)}: the last messages of the user differ")
    for name in list(texts)[:1]:
        battle["query"], translation.names["query"] = texts[name], name


def _last(translation: Translation, turns: Any, name: str, role: str) -> Any:
    """The text of the last turn, which is taken off; None where it is not of this role."""
    if isinstance(turns, list) and turns and isinstance(turns[-1], dict) and turns[-1].get("role") == role:
        return turns.pop().get("text")
    what = {"user": "the query, a message of the user", "assistant": "the answer, a message of the assistant"}
    translation.problems.append(f"{name}: expected {what[role]}, at the end")
    return None


def _messages_of_user(turns: Any) -> int:
    messages = turns if isinstance(turns, list) else []
    return sum(isinstance(message, dict) and message.get("role") == "user" for message in messages)


def _turns(translation: Translation, name: str, messages: Any) -> Any:
    if not isinstance(messages, list):
        return messages
    return [_turn(translation, f"{name}.{number}", message) for number, message in enumerate(messages)]


def _turn(translation: Translation, name: str, message: Any) -> Any:
    """A message as a turn; its tokens are not counted here."""
    if not isinstance(message, dict) or "content" not in message:
        return message
    rest = {key: value for key, value in message.items() if value is not None and key != "num_tokens"}
    if "text" in rest:
        translation.problems.append(f"{name}: has content and text; which one counts?")
    content = rest.pop("content", None)
    return rest | {"text": _joined(translation, name, content) if isinstance(content, list) else content}


def _joined(translation: Translation, name: str, parts: Sequence[Any]) -> str:
    texts = []
    for part in parts:
        kind = part.get("type") if isinstance(part, dict) else None
        if kind in _TEXT_PARTS and isinstance(part.get("text"), str):
            texts.append(part["text"])
        else:
            translation.problems.append(f"{name}.content: has a part of type {kind!r}; expected type 'text'")
    return "\n".join(texts)


def _read_vote(translation: Translation) -> None:
    """The vote in our words. One that is not known stays."""
    vote = translation.battle.get("vote")
    if not isinstance(vote, str):
        return
    named = [side for side in "ab" if _is_named(vote, translation.battle.get(side))]
    spelt = sent_vote(vote)
    meant = {*named, *([] if spelt is None else [spelt.value])}
    if len(meant) > 1:
        what = f"is {vote!r}, the name of one system and the usual word for another outcome"
        translation.problems.append(f"{translation.name('vote')}: {what}")
    elif meant:
        [translation.battle["vote"]] = meant


def _is_named(name: str, answer: Any) -> bool:
    """Whether a vote names the system of an answer, in any spelling of the name."""
    system = answer.get("system") if isinstance(answer, dict) else None
    return isinstance(system, str) and one_spelling(system) == one_spelling(name)
