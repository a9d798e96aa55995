"""Nugget lists in both profiles: what is read, what is kept, where each nugget comes from."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from nuggetstream.domain.event import BattleNuggetized, BattleRetrieved
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.nugget import Importance, NuggetList, Provenance
from nuggetstream.nuggets.grounding import with_grounds
from services.nuggetizer import stage
from services.nuggetizer.creation import Draft, trim
from services.nuggetizer.documents import NuggetSources, documents_of
from services.nuggetizer.prompts import LONGEST, additions, all_at_once, complete, importance, one_window
from services.nuggetizer.stage import Nuggetizer, Profile
from services.runtime.errors import Permanent
from services.runtime.llm.blocks import Block
from services.runtime.llm.dialect import Dialect, ModelRequest
from services.runtime.llm.model import Reply
from services.runtime.llm.prompt import Prompt
from services.runtime.llm.replies import (
    EXAMPLE,
    CreatedNugget,
    ImportanceReply,
    NuggetImportance,
    NuggetsReply,
    WindowReply,
)
from tests import samples
from tests.fakes import ScriptedModel, blocks

VITAL, OKAY = Importance.VITAL, Importance.OKAY


def says(*nuggets: tuple[str, str, Sequence[str]]) -> Callable[[Prompt[Any]], NuggetsReply]:
    """A reply to the live profile: (text, importance, sources)."""
    reply = NuggetsReply(
        nuggets=[CreatedNugget(text=t, importance=i, sources=list(s)) for t, i, s in nuggets]
    )
    return lambda prompt: reply


def live(*nuggets: tuple[str, str, Sequence[str]]) -> ScriptedModel:
    return ScriptedModel({"nuggets": says(*nuggets)})


def reader() -> ScriptedModel:
    """The paper profile: each window adds one nugget per document, vital all of them."""

    def rewrite(prompt: Prompt[Any]) -> WindowReply:
        known = [block.text for block in blocks(prompt, "nugget")]
        return WindowReply(nuggets=known + [f"From: {b.text}" for b in blocks(prompt, "answer", "chunk")])

    def label(prompt: Prompt[Any]) -> ImportanceReply:
        labels = [NuggetImportance(id=b.id, importance="vital") for b in blocks(prompt, "nugget")]
        return ImportanceReply(labels=labels)

    return ScriptedModel({"nuggets_window": rewrite, "importance": label})


async def created(nuggetizer: Nuggetizer, event: BattleRetrieved | None = None) -> NuggetList:
    return (await out(nuggetizer, event)).nugget_list


async def out(nuggetizer: Nuggetizer, event: BattleRetrieved | None = None) -> BattleNuggetized:
    (out,) = await nuggetizer(event or samples.retrieved())
    assert isinstance(out, BattleNuggetized)
    return out


async def test_live_asks_once_and_keeps_where_each_nugget_was_read() -> None:
    model = live(("Tea is made of leaves.", "okay", ["c1"]), ("Tea is a drink.", "vital", ["c2", "a1", "c2"]))
    nuggets = await created(Nuggetizer(model))
    assert model.tasks() == ["nuggets"]
    assert model.battles == ["b1"]
    vital, okay = nuggets.nuggets
    assert (vital.text, vital.importance, okay.importance) == ("Tea is a drink.", VITAL, OKAY)
    assert okay.provenance == (Provenance("chunk1", "https://example.org/1", "h1", samples.NOON),)
    first = documents_of(samples.retrieved(), NuggetSources.BOTH)[0].provenance
    assert [place.document for place in vital.provenance] == ["chunk2", first.document]
    assert (nuggets.profile, nuggets.sources, nuggets.model) == ("live", "both", "scripted-2026")
    assert [step.texts for step in nuggets.history] == [("Tea is a drink.", "Tea is made of leaves.")]


async def test_nuggets_are_compared_with_the_evidence_off_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[int] = []

    def noted(*args: Any, **kwargs: Any) -> Any:
        threads.append(threading.get_ident())
        return with_grounds(*args, **kwargs)

    monkeypatch.setattr(stage, "with_grounds", noted)
    await created(Nuggetizer(live(("Tea is a drink.", "vital", ["c2"]))))
    assert len(threads) == 1
    assert threading.get_ident() not in threads


async def test_a_source_nobody_showed_is_dropped_and_the_nugget_is_not() -> None:
    nuggets = await created(Nuggetizer(live(("Tea.", "vital", ["c9", "c1", "https://evil.example"]))))
    assert [place.document for place in nuggets.nuggets[0].provenance] == ["chunk1"]


async def test_both_profiles_read_both_answers_then_the_evidence() -> None:
    for profile, model in ((Profile.LIVE, live(("Tea.", "vital", []))), (Profile.PAPER, reader())):
        await created(Nuggetizer(model, profile), samples.retrieved(chunks=3))
        kinds = [block.kind for block in blocks(model.asked[0], "answer", "chunk")]
        assert kinds == ["answer", "answer", "chunk", "chunk", "chunk"]


async def test_the_paper_profile_reads_in_windows_of_ten_and_the_list_grows() -> None:
    model = reader()
    nuggets = await created(Nuggetizer(model, Profile.PAPER), samples.retrieved(chunks=23))
    assert model.tasks() == ["nuggets_window"] * 3 + ["importance"] * 3
    assert [len(blocks(p, "answer", "chunk")) for p in model.asked[:3]] == [10, 10, 5]
    assert [len(blocks(p, "nugget")) for p in model.asked] == [0, 10, 20, 10, 10, 5]
    assert [len(step.texts) for step in nuggets.history] == [10, 20, 25]
    assert [len(step.documents) for step in nuggets.history] == [10, 10, 5]
    assert len(nuggets.nuggets) == 25


async def test_a_window_names_the_nuggets_that_stay_by_their_ids() -> None:
    replies = [["One.", "Two.", "Three."], ["Zero.", "n1-n2", "n3: Three, in other words."]]
    script = {
        "nuggets_window": lambda _: WindowReply(nuggets=replies.pop(0)),
        "importance": reader().script["importance"],
    }
    nuggets = await created(Nuggetizer(ScriptedModel(script), Profile.PAPER, window=2))
    texts = [nugget.text for nugget in nuggets.nuggets]
    assert texts == ["Zero.", "One.", "Two.", "Three, in other words."]
    documents = [{place.document for place in nugget.provenance} for nugget in nuggets.nuggets]
    assert documents[1] == documents[2] == {"answer:a", "answer:b"}  # where their wording first appeared
    assert documents[0] == documents[3] == {"chunk1", "chunk2"}


@pytest.mark.parametrize("item", ["n3", "n0", "n2-n1", "n1-n3"])
def test_a_window_that_names_a_nugget_nobody_showed_is_no_reply(item: str) -> None:
    prompt = one_window("q", [], ["One.", "Two."], 30)
    assert prompt.check is not None
    prompt.check(WindowReply(nuggets=["n1-n2"]))
    with pytest.raises(ValueError, match=f"unknown ids: {item}"):
        prompt.check(WindowReply(nuggets=["n1", item]))


async def test_the_windows_of_importance_are_asked_at_the_same_time() -> None:
    model = reader()
    waiting, most = 0, 0

    class Counting(ScriptedModel):
        async def ask(self, prompt: Prompt[Any], *, stage: str, battle_id: str) -> Reply[Any]:
            nonlocal waiting, most
            waiting += 1
            most = max(most, waiting)
            try:
                return await super().ask(prompt, stage=stage, battle_id=battle_id)
            finally:
                waiting -= 1

    counting = Counting(model.script)
    await created(Nuggetizer(counting, Profile.PAPER), samples.retrieved(chunks=23))
    assert counting.tasks()[3:] == ["importance"] * 3
    assert most == 3


async def test_the_paper_profile_remembers_the_window_in_which_a_nugget_appeared() -> None:
    nuggets = await created(Nuggetizer(reader(), Profile.PAPER, window=2), samples.retrieved(chunks=2))
    by_text = {nugget.text: [place.document for place in nugget.provenance] for nugget in nuggets.nuggets}
    assert by_text["From: Passage number 2."] == ["chunk1", "chunk2"]
    assert sorted(by_text["From: Tea is a drink."]) == ["answer:a", "answer:b"]


async def test_a_list_that_outgrows_the_limit_is_cut_at_every_step() -> None:
    model = reader()
    nuggets = await created(Nuggetizer(model, Profile.PAPER, limit=12), samples.retrieved(chunks=23))
    assert [len(step.texts) for step in nuggets.history] == [10, 12, 12]
    assert len(nuggets.nuggets) == 12


def draft(text: str, importance: Importance = VITAL, *documents: str) -> Draft:
    return Draft(text, importance, tuple(Provenance(document) for document in documents))


def test_okay_nuggets_go_first_and_the_order_stays() -> None:
    drafts = [draft("a", OKAY), draft("b"), draft("c", OKAY), draft("d")]
    assert [d.text for d in trim(drafts, 3)] == ["b", "d", "a"]
    assert [d.text for d in trim(drafts, 1)] == ["b"]


def test_a_fact_listed_twice_is_one_nugget_read_in_both_places() -> None:
    merged = trim(
        [draft("Tea is green.", OKAY, "c1"), draft("x"), draft("tea  IS green", VITAL, "c2", "c1")], 9
    )
    assert merged == [draft("Tea is green.", VITAL, "c1", "c2"), draft("x")]


async def test_that_an_answer_does_not_know_is_no_nugget() -> None:
    unknown = ("I do not know who won.", "vital", ["a1"])
    model = live(unknown, ("France won the 1998 World Cup.", "vital", ["a2"]))
    assert [nugget.text for nugget in (await created(Nuggetizer(model))).nuggets] == [
        "France won the 1998 World Cup."
    ]
    with pytest.raises(Permanent) as raised:
        await created(Nuggetizer(live(unknown)))
    assert raised.value.reason is Reason.NOTHING_TO_SCORE


def test_a_nugget_without_words_is_no_nugget() -> None:
    assert trim([draft(""), draft(" "), draft("x")], 9) == [draft("x")]


@pytest.mark.parametrize(
    "text", ["| High tide | 06:12 |", "## Causes of tides", "```python tide = rise(moon)```"]
)
def test_a_row_of_a_table_a_heading_and_code_are_no_nuggets(text: str) -> None:
    assert trim([draft(text), draft("Tea is green.")], 9) == [draft("Tea is green.")]


def test_a_nugget_has_no_marks_of_citations() -> None:
    # Qwen2.5-Coder 1.5B copied them from the answers.
    assert trim([draft("Students build products [1,2]."), draft("Students build products.")], 9) == [
        draft("Students build products.")
    ]


def test_the_example_of_the_prompt_is_no_nugget() -> None:
    # Qwen2.5-Coder 1.5B began its list with the example.
    assert trim([draft(EXAMPLE), draft("Tides follow the moon.")], 9) == [draft("Tides follow the moon.")]


def test_a_prompt_shows_no_fact_that_could_be_copied_unless_the_server_takes_no_schema() -> None:
    # After 4,000 tokens of documents, the 0.5B wrote "v a1 c3: One fact in a short sentence", the same for
    # a2, and so on, in 20 of 23 replies. Without the example it writes facts.
    documents, example = [Block("answer", "a1", "The moon pulls.")], EXAMPLE.rstrip(".")
    asked = all_at_once("Why?", documents, 9)
    for prompt in (
        asked,
        additions("Why?", ["Tides rise."], documents, 9),
        one_window("Why?", documents, ["Tides rise."], 9),
    ):
        assert example not in str(prompt.messages())
    assert example in str(Dialect(format="none").parameters(ModelRequest.of(asked))["messages"])


def test_a_list_of_nothing_but_the_example_is_asked_for_again() -> None:
    # The 1.5B wrote it beside one document after the other; the battle had "nothing to score".
    check = all_at_once("Why are there tides?", [Block("answer", "a1", "The moon pulls.")], 9).check
    assert check is not None
    copied, fact = f"v a1: {EXAMPLE}", "v a1: The moon pulls the sea."
    check(NuggetsReply.model_validate({"nuggets": [copied, fact]}))
    with pytest.raises(ValueError, match="every nugget is the example"):
        check(NuggetsReply.model_validate({"nuggets": [copied, copied.rstrip(".")]}))


def test_a_list_of_nothing_but_cut_nuggets_is_asked_for_again() -> None:
    check = all_at_once("Why are there tides?", [Block("answer", "a1", "The moon pulls.")], 9).check
    assert check is not None
    cut, fact = f"v a1: {'x' * LONGEST}", "v a1: The moon pulls the sea."
    check(NuggetsReply.model_validate({"nuggets": [cut, fact]}))
    with pytest.raises(ValueError, match="every nugget is cut off"):
        check(NuggetsReply.model_validate({"nuggets": [cut]}))


def test_a_sentence_that_the_longest_length_ended_is_no_part_of_a_nugget() -> None:
    # The 1.5B copied paragraphs; llama.cpp ended them after 300 characters, some in the middle of a word.
    paragraph = "Tides follow the moon. " + "They rise and fall twice a day, " * 9
    assert complete(paragraph[:LONGEST]) == "Tides follow the moon."
    assert complete(paragraph[23 : 23 + LONGEST - 1]) == paragraph[23 : 23 + LONGEST - 1]
    assert complete("x" * LONGEST) == ""
    assert complete("x" * (LONGEST - 1) + ".").endswith("x.")


@pytest.mark.parametrize(
    ("sources", "kinds"),
    [
        (NuggetSources.BOTH, {"answer", "chunk"}),
        (NuggetSources.ANSWERS, {"answer"}),
        (NuggetSources.CHUNKS, {"chunk"}),
    ],
)
async def test_an_ablation_reads_only_its_part(sources: NuggetSources, kinds: set[str]) -> None:
    model = live(("Tea.", "vital", []))
    nuggets = await created(Nuggetizer(model, sources=sources))
    assert {block.kind for block in model.asked[0].blocks} - {"query"} == kinds
    assert nuggets.sources == sources.value


@pytest.mark.parametrize(
    ("event", "sources"),
    [
        (samples.retrieved(chunks=0), NuggetSources.CHUNKS),
        (samples.retrieved(chunks=3, fought=samples.battle(a=" ", b="")), NuggetSources.ANSWERS),
        (samples.retrieved(chunks=0, fought=samples.battle(a="", b="\n")), NuggetSources.BOTH),
    ],
)
async def test_nothing_to_read_is_no_evidence_and_no_call(
    event: BattleRetrieved, sources: NuggetSources
) -> None:
    model = live()
    with pytest.raises(Permanent) as raised:
        await Nuggetizer(model, sources=sources)(event)
    assert raised.value.reason is Reason.NO_EVIDENCE
    assert model.asked == []


async def test_an_empty_answer_is_not_read() -> None:
    model = live(("Tea.", "vital", []))
    await created(Nuggetizer(model), samples.retrieved(fought=samples.battle(a="")))
    assert [block.text for block in blocks(model.asked[0], "answer")] == ["Tea is a drink."]


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        (live(("Tea.", "okay", [])), Reason.NO_VITAL_NUGGET),
        (live(), Reason.NOTHING_TO_SCORE),
    ],
)
async def test_a_list_that_cannot_score_is_a_failure(model: ScriptedModel, reason: Reason) -> None:
    with pytest.raises(Permanent) as raised:
        await Nuggetizer(model)(samples.retrieved())
    assert raised.value.reason is reason


async def test_a_nugget_without_text_makes_the_reply_unusable() -> None:
    with pytest.raises(ValueError, match="1 nuggets have no text"):
        await Nuggetizer(live((" ", "vital", []), ("Tea.", "vital", [])))(samples.retrieved())


def test_the_answers_come_in_an_order_seeded_by_the_event() -> None:
    def order(key: str) -> list[str]:
        documents = documents_of(samples.retrieved(key=key), NuggetSources.ANSWERS)
        assert [document.block.id for document in documents] == ["a1", "a2"]
        return [document.provenance.document for document in documents]

    orders = [order(str(key)) for key in range(40)]
    assert orders == [order(str(key)) for key in range(40)]
    assert 10 < orders.count(["answer:a", "answer:b"]) < 30


def test_a_missing_importance_is_not_okay() -> None:
    prompt = importance("q", [Block("nugget", "n1", "x"), Block("nugget", "n2", "y")])
    assert prompt.check is not None
    with pytest.raises(ValueError, match="missing ids: n2"):
        prompt.check(ImportanceReply(labels=[NuggetImportance(id="n1", importance="vital")]))


async def test_the_same_event_gives_the_same_keys_and_ids() -> None:
    nuggetizer = Nuggetizer(live(("Tea.", "vital", ["c1"]), ("Leaves.", "okay", [])))
    assert await out(nuggetizer) == await out(nuggetizer)


async def test_another_event_model_prompt_or_setting_is_another_key() -> None:
    model = live(("Tea.", "vital", ["c1"]))
    base = Nuggetizer(model)
    changed = [
        await out(base),
        await out(base, samples.retrieved(key="other")),
        await out(replace(base, model=replace(model, name="other"))),
        await out(replace(base, model=replace(model, reworded=True))),
        await out(replace(base, limit=5)),
        await out(replace(base, sources=NuggetSources.ANSWERS)),
        await out(Nuggetizer(reader(), Profile.PAPER)),
    ]
    assert len({event.key for event in changed}) == len(changed)
    assert len({n.id for event in changed for n in event.nugget_list.nuggets[:1]}) == len(changed)
