"""Battles as public arenas publish them: one row per battle, with the messages of both sides.

Search Arena     lmarena-ai/search-arena-v1-7k and -24k: `messages_a`, and the searched pages in
                 `system_a_metadata.web_search_trace`, which the two versions hold differently
Chatbot Arena    lmsys/chatbot_arena_conversations, lmarena-ai/arena-human-preference-100k and -140k
LMSYS 55k        lmarena-ai/arena-human-preference-55k: prompts and responses as JSON inside the cells
ComparIA         ministere-culture/comparia-votes: `conversation_a`, `chosen_model_name`, `both_equal`
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from nuggetstream.files.dataset import Read
from nuggetstream.files.formats.format import BATTLES, FileFormat, Sample, Source, checked, object_of
from nuggetstream.files.formats.language_names import language_tag
from nuggetstream.files.formats.rows import Row, shown
from nuggetstream.files.sources import MAX_PASSAGES, within_limit
from nuggetstream.files.submission import InvalidSubmission

_ROLES = ("user", "assistant")
_NO_INTENT = ("Other", "Unassigned")
_WINNERS = {"winner_model_a": "a", "winner_model_b": "b", "winner_tie": "tie"}


def _search_arena(row: Row, _: Source) -> Read:
    fields = object_of(row)
    turn = fields.get("turn")
    battle = {
        "id": _search_arena_id(fields),
        "arena": fields.get("arena") or "search-arena",
        "language": language_tag(fields.get("language") or fields.get("languages")),
        "tags": fields.get("tags") or _intents(fields),
        "winner": fields.get("winner") or None,
    }
    for side in "ab":
        metadata = fields.get(f"system_{side}_metadata")
        messages = _until(turn, _messages(fields, f"messages_{side}"))
        battle[f"model_{side}"] = fields.get(f"model_{side}")
        battle[f"messages_{side}"] = messages
        asked = sum(message["role"] == "user" for message in messages)
        battle[side] = {"sources": _sources(metadata, f"system_{side}_metadata", asked)}
    return checked(battle)


def _search_arena_id(fields: Mapping[str, Any]) -> str | None:
    if fields.get("battle_id") is not None:
        return str(fields["battle_id"])  # an export of ours
    if fields.get("question_id") is not None:
        return f"search-arena-{fields['question_id']}"
    conversations = [
        metadata.get("conv_id")
        for side in "ab"
        if isinstance(metadata := fields.get(f"system_{side}_metadata"), dict)
    ]
    ids = [str(conversation) for conversation in conversations if conversation]
    return f"search-arena-{'-'.join(ids)}-{fields.get('turn')}" if ids else None


def _intents(fields: Mapping[str, Any]) -> list[str]:
    intents = {name: fields.get(f"{name}_intent") for name in ("primary", "secondary")}
    return list(
        dict.fromkeys(f"intent:{name}" for name in intents.values() if name and name not in _NO_INTENT)
    )


def _until(turn: Any, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages up to the answer that was voted on, which is the answer to a message of the user.

    Args:
        turn: Number of that message, from 1; all messages count where it is no number.
        messages: All messages of the conversation.
    """
    if not isinstance(turn, int) or turn < 1:
        return messages
    asked = 0
    for index, message in enumerate(messages):
        asked += message["role"] == "user"
        if asked == turn and message["role"] == "assistant":
            return messages[: index + 1]
    return messages


def _messages(fields: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """The messages of the user and the assistant, with role and content alone.

    Raises:
        InvalidSubmission: They are no list of messages.
    """
    messages = _decoded(fields.get(name), name)
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise InvalidSubmission([f"{name}: is {shown(messages)}; expected a list of messages"])
    return [
        {"role": message["role"], "content": message.get("content")}
        for message in messages
        if message.get("role") in _ROLES
    ]


def _decoded(value: Any, name: str) -> Any:
    """A value that some files hold as JSON in a text.

    Raises:
        InvalidSubmission: The text is not JSON.
    """
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise InvalidSubmission([f"{name}: is not valid JSON: {error}"]) from error


def _sources(metadata: Any, name: str, asked: int) -> list[dict[str, Any]]:
    """The pages that a system searched for its last answer.

    The trace has an entry per message of the user: an object with `search_results` (7k), or a list of
    pairs of a marker and a URL (24k). Where their numbers differ, the pages of all entries are taken.

    Args:
        metadata: Metadata of the system.
        name: Name of the metadata, for errors.
        asked: Number of messages of the user.

    Raises:
        InvalidSubmission: The trace has neither shape.
    """
    if not isinstance(metadata, dict):
        return []
    trace = metadata.get("web_search_trace")
    if trace is None:
        return []
    if not isinstance(trace, list):
        raise InvalidSubmission([f"{name}.web_search_trace: is {shown(trace)}; expected a list per turn"])
    entries = trace[-1:] if len(trace) == asked else trace
    pages: dict[str, dict[str, Any]] = {}
    for entry in entries:
        for page in _pages(entry, f"{name}.web_search_trace"):
            earlier = pages.setdefault(page["url"], page)
            if earlier is not page:
                _add_passage(earlier, page.get("snippet"))
    return list(pages.values())


def _add_passage(page: dict[str, Any], snippet: str | None) -> None:
    """Add the snippet of another result with the same URL, up to the number that a source may have."""
    passages = page.setdefault("passages", [])
    snippets = [page.get("snippet"), *(passage["snippet"] for passage in passages)]
    if snippet and snippet not in snippets and len(snippets) < MAX_PASSAGES:
        passages.append({"snippet": snippet})


def _pages(entry: Any, name: str) -> list[dict[str, Any]]:
    results = (entry.get("search_results") if isinstance(entry, dict) else entry) or []
    if not isinstance(results, list):
        raise InvalidSubmission([f"{name}: holds {shown(results)}; expected a list of results"])
    pages: list[dict[str, Any]] = []
    for result in results:
        match result:
            case {"url": str(url), **rest}:
                title, snippet = rest.get("title"), rest.get("snippet")
                page = {"url": url, "title": title if isinstance(title, str) else None}
                pages.append(page | ({"snippet": within_limit(snippet)} if isinstance(snippet, str) else {}))
            case [_, str(url), *_]:
                pages.append({"url": url})
            case {"url": None} | [_, None, *_]:
                pass
            case _:
                raise InvalidSubmission(
                    [f"{name}: holds {shown(result)}; expected a URL or a marker with a URL"]
                )
    return pages


def _chatbot_arena(row: Row, _: Source) -> Read:
    fields = object_of(row)
    battle = {name: fields.get(name) for name in ("model_a", "model_b", "turn")}
    battle |= {
        "id": fields.get("question_id") or fields.get("id"),
        "arena": "chatbot-arena",
        "language": language_tag(fields.get("language")),
        "winner": fields.get("winner") or None,
    }
    for side in "ab":
        battle[f"conversation_{side}"] = _messages(fields, f"conversation_{side}")
    return checked(battle)


def _lmsys_55k(row: Row, _: Source) -> Read:
    fields = object_of(row)
    prompts = _texts(fields, "prompt")
    battle: dict[str, Any] = {
        "id": None if fields.get("id") is None else f"lmsys-{fields['id']}",
        "arena": "chatbot-arena",
        "vote": _lmsys_55k_vote(fields)["winner"],
    }
    for side in "ab":
        answers = _texts(fields, f"response_{side}")
        if len(answers) != len(prompts):
            problem = f"response_{side}: has {len(answers)} responses to {len(prompts)} prompts"
            raise InvalidSubmission([problem])
        battle[f"model_{side}"] = fields.get(f"model_{side}")
        battle[f"messages_{side}"] = [
            {"role": role, "content": text}
            for prompt, answer in zip(prompts, answers, strict=True)
            for role, text in zip(_ROLES, (prompt, answer or ""), strict=True)
        ]
    return checked(battle)


def _lmsys_55k_vote(fields: Mapping[str, Any]) -> dict[str, Any]:
    votes = [vote for name, vote in _WINNERS.items() if str(fields.get(name)).strip() in ("1", "1.0", "True")]
    if len(votes) > 1:
        raise InvalidSubmission([f"{', '.join(_WINNERS)}: more than one is 1"])
    return {"winner": votes[0] if votes else None}


def _texts(fields: Mapping[str, Any], name: str) -> Sequence[str | None]:
    texts = _decoded(fields.get(name), name)
    if not isinstance(texts, list) or not all(text is None or isinstance(text, str) for text in texts):
        raise InvalidSubmission([f"{name}: is {shown(texts)}; expected a list of texts"])
    return texts


def _comparia(row: Row, _: Source) -> Read:
    fields = object_of(row)
    vote = _comparia_vote(fields)
    battle = {
        "id": vote["battle"],
        "arena": "comparia",
        "language": language_tag(fields.get("languages") or fields.get("language")),
        "tags": _categories(fields.get("categories")),
        "vote": vote["winner"],
    }
    for side in "ab":
        battle[f"model_{side}"] = vote[f"system_{side}"]
        battle[f"messages_{side}"] = _messages(fields, f"conversation_{side}")
    return checked(battle)


def _comparia_vote(fields: Mapping[str, Any]) -> dict[str, Any]:
    equal = str(fields.get("both_equal")).casefold() == "true"
    return {
        "battle": fields.get("conversation_pair_id"),
        "system_a": fields.get("model_a_name"),
        "system_b": fields.get("model_b_name"),
        "winner": "tie" if equal else fields.get("chosen_model_name") or None,
    }


def _categories(value: Any) -> list[str]:
    names = value if isinstance(value, list) else [value]
    distinct = dict.fromkeys(name for name in names if isinstance(name, str) and name.strip())
    return [f"category:{name}" for name in distinct]


def _is_search_arena(sample: Sample) -> bool:
    return sample.has("model_a", "messages_a", "messages_b") and sample.has_any(
        "system_a_metadata", "system_b_metadata"
    )


SEARCH_ARENA = FileFormat(
    name="search-arena",
    title="Search Arena 7k and 24k",
    holds=BATTLES,
    recognises=_is_search_arena,
    battle_of=_search_arena,
    fields="messages up to the answer voted on, winner, searched pages of both traces, language, intents",
    lost="time, user, country, settings of the models, statistics of citations; messages after the vote",
)
CHATBOT_ARENA = FileFormat(
    name="chatbot-arena",
    title="LMSYS and Chatbot Arena",
    holds=BATTLES,
    recognises=lambda sample: sample.has("model_a", "conversation_a", "conversation_b"),
    battle_of=_chatbot_arena,
    fields="messages, winner, language; a message with a picture is rejected",
    lost="time, user, moderation, tags of the arena; system prompts",
)
LMSYS_55K = FileFormat(
    name="lmsys-55k",
    title="LMSYS human preference 55k",
    holds=BATTLES,
    recognises=lambda sample: sample.has("prompt", "response_a", "response_b", "winner_model_a"),
    battle_of=_lmsys_55k,
    vote_of=_lmsys_55k_vote,
    fields="prompts, responses, winner",
)
COMPARIA = FileFormat(
    name="comparia",
    title="ComparIA",
    holds=BATTLES,
    recognises=lambda sample: sample.has("model_a_name", "conversation_a", "conversation_b"),
    battle_of=_comparia,
    vote_of=_comparia_vote,
    fields="messages, chosen model or equality, categories, language",
    lost="time, comments and reactions, visitor, energy, system prompts",
)
