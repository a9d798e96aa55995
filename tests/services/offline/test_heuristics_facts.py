import hashlib
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from services.offline.heuristics import Document, Embed, create_facts

QUERY = "How does local journalism affect a community?"
ANSWER = """- Local journalism holds elected leaders accountable by reporting on their decisions [0, 1].
- Towns that lose their newspaper see lower turnout in municipal elections [2].
- Neighbours learn about school boards and budgets mostly from the local paper [3]."""
OTHER = "Newspapers are nice to read at breakfast. Many people like coffee with their morning paper anyway."
CHUNK = (
    "Municipal elections see lower turnout in towns that lose their newspaper. Bananas grow in warm places."
)
DOCUMENTS = [
    Document("a", "answer", ANSWER),
    Document("b", "answer", OTHER),
    Document("c", "chunk", CHUNK),
]


def hashed(texts: Sequence[str]) -> NDArray[np.float32]:
    """Bags of hashed words as vectors: similar texts get similar rows."""
    rows = np.full((len(texts), 256), 1e-3, dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        for word in text.casefold().split():
            row[hashlib.sha256(word.strip(".,").encode()).digest()[0]] += 1
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


both_modes = pytest.mark.parametrize("embed", [None, hashed], ids=["lexical", "dense"])


@both_modes
def test_facts_are_clean_sentences_of_the_documents(embed: Embed | None) -> None:
    texts = [fact.text for fact in create_facts(QUERY, DOCUMENTS, limit=30, embed=embed)]
    assert "Neighbours learn about school boards and budgets mostly from the local paper." in texts
    assert not any("[" in text or text.startswith("-") for text in texts)


@both_modes
def test_the_most_salient_fact_is_on_the_topic_and_vital(embed: Embed | None) -> None:
    facts = create_facts(QUERY, DOCUMENTS, limit=30, embed=embed)
    assert facts[0].vital
    assert facts[0].text.startswith("Local journalism")


@both_modes
@pytest.mark.parametrize("limit", [0, 1, 3])
def test_the_limit_is_honoured_and_something_is_vital(embed: Embed | None, limit: int) -> None:
    facts = create_facts(QUERY, DOCUMENTS, limit=limit, embed=embed)
    assert len(facts) == limit
    assert any(fact.vital for fact in facts) == bool(limit)


@both_modes
def test_the_order_of_the_documents_does_not_matter(embed: Embed | None) -> None:
    forward = create_facts(QUERY, DOCUMENTS, limit=5, embed=embed)
    assert forward == create_facts(QUERY, DOCUMENTS[::-1], limit=5, embed=embed)


@both_modes
def test_a_repeated_sentence_is_one_fact_with_all_its_sources(embed: Embed | None) -> None:
    sentence = "Local journalism holds elected leaders accountable by reporting on their decisions."
    documents = [*DOCUMENTS, Document("d", "chunk", sentence)]
    facts = create_facts(QUERY, documents, limit=30, embed=embed)
    (found,) = [fact for fact in facts if fact.text == sentence]
    assert set(found.sources) == {"a", "d"}


MARKED_UP = """# The effects of local journalism on towns and their people

**What towns without any local newspaper have lost**

Use the town's own records to find out whether people vote:

```python
turnout = [town.votes / town.people for town in towns if town.newspaper and town.people]
```

    print(turnout, towns, newspapers, elections, voters)

| Town with a paper | Turnout of voters | Local news | Budget of schools |
|---|---|---|---|
| Springfield and surroundings | fortytwo percent | plenty | large and published |

1. Towns that lose their newspaper see lower turnout

    in municipal elections, and their leaders are watched less.
"""


@both_modes
def test_code_tables_headings_and_words_before_a_list_are_no_facts(embed: Embed | None) -> None:
    facts = create_facts(QUERY, [Document("a", "answer", MARKED_UP)], limit=30, embed=embed)
    assert {fact.text for fact in facts} == {
        "Towns that lose their newspaper see lower turnout",
        "in municipal elections, and their leaders are watched less.",
    }
    code = Document("a", "answer", "```\nturnout of voters = all the votes of a town\n```")
    assert create_facts(QUERY, [code], limit=30, embed=embed) == []


@both_modes
def test_two_ways_to_say_one_thing_are_one_fact(embed: Embed | None) -> None:
    said = (
        "The modulo operator tests whether a number is even.",
        "Use the modulo operator to test whether a number is even.",
    )
    documents = [Document(str(n), "answer", text) for n, text in enumerate(said)]
    [fact] = create_facts("How do I test for even numbers?", documents, limit=30, embed=embed)
    assert (fact.text in said, fact.sources) == (True, ("0", "1"))


@both_modes
def test_nothing_in_gives_nothing_out(embed: Embed | None) -> None:
    assert create_facts("", [], limit=10, embed=embed) == []
    assert create_facts(QUERY, [Document("a", "answer", " \n😀")], limit=10, embed=embed) == []


def test_short_answers_still_yield_a_fact() -> None:
    documents = [Document("a", "answer", "Paris"), Document("b", "answer", "Lyon, maybe")]
    assert {fact.text for fact in create_facts("Capital?", documents, limit=9, embed=None)} == {
        "Paris",
        "Lyon, maybe",
    }


def test_that_an_answer_does_not_know_is_no_fact() -> None:
    unknown = Document("a", "answer", "I do not know who won the World Cup in 1998.")
    assert create_facts("Who won?", [unknown], limit=10, embed=None) == []
    (fact,) = create_facts("Who won?", [unknown, Document("b", "answer", "France.")], limit=10, embed=None)
    assert fact.text == "France."


def test_headings_and_questions_are_no_facts() -> None:
    text = f"# Impact of local news\nWhat does local journalism do for small towns today?\n{ANSWER}"
    texts = [fact.text for fact in create_facts(QUERY, [Document("a", "answer", text)], limit=9, embed=None)]
    assert len(texts) == 3


@pytest.mark.parametrize(
    ("query", "answer"),
    [
        (
            "Warum ist Lokaljournalismus wichtig?",
            "Lokale Zeitungen kontrollieren Bürgermeister und Gemeinderat.",
        ),
        (
            "¿Por qué importa el periodismo local?",
            "Los diarios locales vigilan a los alcaldes y los presupuestos.",
        ),
        ("地方新闻为什么重要？", "地方新闻监督政府官员并告知居民社区事务。"),
        ("地域ニュースはなぜ重要ですか", "地域の新聞は市長と議会を監視する役割を果たしている。"),
    ],
)
def test_any_language_yields_its_sentence(query: str, answer: str) -> None:
    facts = create_facts(query, [Document("a", "answer", answer)], limit=5, embed=None)
    assert [fact.text for fact in facts] == [answer]
