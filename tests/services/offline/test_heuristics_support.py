import pytest

from services.offline.heuristics import Document, Embed, Label, assign, create_facts, with_chunks
from tests.services.offline.test_heuristics_facts import ANSWER, DOCUMENTS, QUERY, hashed

both_modes = pytest.mark.parametrize("embed", [None, hashed], ids=["lexical", "dense"])
UNRELATED = "Penguins swim well. The Antarctic winter lasts six months and is dark."


@both_modes
def test_a_fact_read_in_an_answer_is_supported_by_it_and_quoted(embed: Embed | None) -> None:
    facts = [f.text for f in create_facts(QUERY, [Document("a", "answer", ANSWER)], limit=9, embed=embed)]
    judged = assign(QUERY, facts, ANSWER, embed=embed)
    assert [one.label for one in judged] == [Label.SUPPORT] * 3
    assert [one.quote for one in judged] == facts


@both_modes
def test_an_unrelated_answer_supports_nothing_and_is_not_quoted(embed: Embed | None) -> None:
    facts = [fact.text for fact in create_facts(QUERY, DOCUMENTS[:1], limit=9, embed=embed)]
    judged = assign(QUERY, facts, UNRELATED, embed=embed)
    assert {(one.label, one.quote) for one in judged} == {(Label.NONE, "")}


def test_saying_part_of_a_fact_is_partial_support() -> None:
    facts = [
        "Towns without newspapers see lower turnout in municipal elections and higher borrowing costs.",
        "Reporters attend meetings of school boards.",
    ]
    answer = "Turnout in municipal elections is lower there."
    assert [one.label for one in assign(QUERY, facts, answer, embed=None)] == [Label.PARTIAL, Label.NONE]


@both_modes
def test_another_number_is_a_contradiction_where_the_label_is_asked_for(embed: Embed | None) -> None:
    facts = ["A single cigarette cost 25 cents in the shop.", "The shop opened in the spring."]
    answer = "A single cigarette cost 50 cents in the shop. The shop opened in the spring."
    asked = assign("cigarettes", facts, answer, embed=embed, contradictions=True)
    assert [one.label for one in asked] == [Label.CONTRADICTION, Label.SUPPORT]
    assert asked[0].quote == "A single cigarette cost 50 cents in the shop."
    assert sum(asked[0].probabilities) + asked[0].contradiction == pytest.approx(1)
    plain = assign("cigarettes", facts, answer, embed=embed)
    assert Label.CONTRADICTION not in [one.label for one in plain]


@both_modes
def test_a_denial_is_a_contradiction_and_no_support(embed: Embed | None) -> None:
    denied = "The vaccine does not change your DNA in any way."
    label = assign("dna", ["The vaccine changes your DNA."], denied, embed=embed, contradictions=True)[0]
    assert (label.label, label.quote) == (Label.CONTRADICTION, denied)


@both_modes
def test_what_is_said_of_another_name_is_neither_support_nor_a_source_nor_the_same_fact(
    embed: Embed | None,
) -> None:
    query = "Which port is the largest?"
    right = "The largest port, with a harbour that merchants built for their ships, is Genoa."
    wrong = "The largest port, with a harbour that merchants built for their ships, is Naples."
    assert [one.label for one in assign(query, [right, wrong], wrong, embed=embed)] == [
        Label.NONE,
        Label.SUPPORT,
    ]
    documents = [Document("a", "answer", right), Document("b", "answer", wrong)]
    facts = create_facts(query, documents, limit=9, embed=embed)
    assert {fact.text: fact.sources for fact in facts} == {right: ("a",), wrong: ("b",)}
    chunk = Document("c", "chunk", right)
    confirmed = with_chunks(query, facts, [*documents, chunk], embed)
    assert {fact.text: fact.sources for fact in confirmed} == {right: ("a", "c"), wrong: ("b",)}


@both_modes
def test_there_is_one_judgement_per_fact_in_order(embed: Embed | None) -> None:
    facts = ["Penguins swim well", "Bananas are yellow", "Penguins swim well"]
    labels = [one.label for one in assign("animals", facts, UNRELATED, embed=embed)]
    assert labels == [Label.SUPPORT, Label.NONE, Label.SUPPORT]


@both_modes
@pytest.mark.parametrize("answer", ["", "😀", "|---|", "[1]"])
def test_an_answer_that_says_nothing_supports_nothing(embed: Embed | None, answer: str) -> None:
    judged = assign("q", ["Penguins swim well", "Bananas are yellow"], answer, embed=embed)
    assert [one.label for one in judged] == [Label.NONE, Label.NONE]


def test_no_facts_give_no_judgements() -> None:
    assert assign(QUERY, [], ANSWER, embed=None) == []


def test_citation_markers_change_no_label() -> None:
    plain = "Local papers watch the mayor and explain the city budget."
    cited = "Local papers [1, 2] watch the mayor 【3†x】 and explain the city budget [4]."
    assert assign(QUERY, [plain], cited, embed=None)[0].quote == plain


def test_chinese_support_is_found_by_bigrams() -> None:
    fact, answer = "地方新闻监督政府官员。", "很多人认为,地方新闻监督政府官员。今天下雨。"
    assert assign("新闻", [fact], answer, embed=None)[0].label is Label.SUPPORT
    assert assign("新闻", [fact], "今天下雨。", embed=None)[0].label is Label.NONE
