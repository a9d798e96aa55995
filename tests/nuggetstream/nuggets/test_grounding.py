"""Is a nugget stated by a source, by an answer only, or disputed?"""

from nuggetstream.domain.battle import Answer, Battle, Side, Source
from nuggetstream.domain.evidence import Evidence
from nuggetstream.domain.nugget import Grounding, Grounds, Importance, Nugget, Provenance, Quotation
from nuggetstream.nuggets.grounding import with_grounds

URL = "https://health.example/mrna"
HONEST = "No. The mRNA stays outside the nucleus and is broken down within days."
FALSE = "mRNA vaccines change your DNA a little."
PAGE = (
    "The mRNA stays outside the nucleus. mRNA vaccines do not change your DNA. Cells break mRNA down quickly."
    " The trial had 44 volunteers."
)
BATTLE = Battle(
    "1",
    "health",
    "Do mRNA vaccines change your DNA?",
    Answer("honest", HONEST, (Source(URL, text=PAGE),)),
    Answer("false", f"Yes. {FALSE} Doctors were paid to keep quiet about it."),
)


def chunk(text: str, name: str = "c1") -> Evidence:
    return Evidence(
        chunk_id=name,
        text=text,
        url=URL,
        title=None,
        content_hash="",
        fetched_at=None,
        cited_by=(Side.A,),
        score=1.0,
    )


def nugget(text: str, *documents: str) -> Nugget:
    return Nugget("n", text, Importance.VITAL, tuple(Provenance(document) for document in documents))


def grounds(text: str, *documents: str, page: str | None = PAGE, windows: bool = False) -> Grounds | None:
    evidence = [] if page is None else [chunk(page)]
    (found,) = with_grounds([nugget(text, *documents)], evidence, BATTLE, windows=windows)
    return found.grounds


def test_a_nugget_read_in_a_source_is_grounded_and_its_sentence_is_quoted() -> None:
    quoted = Quotation("c1", "The mRNA stays outside the nucleus.", URL)
    assert grounds("mRNA stays outside of the nucleus", "answer:a", "c1") == Grounds(
        Grounding.GROUNDED, quoted
    )


def test_a_document_that_the_model_names_is_no_evidence_without_a_sentence_that_states_the_nugget() -> None:
    assert grounds("Genes remain as they were.", "c1") is None
    claim = "Doctors were paid to keep quiet about it."
    assert grounds(claim, "answer:b", "c1") == Grounds(Grounding.ANSWER_ONLY, Quotation("answer:b", claim))


def test_a_disputed_nugget_is_not_vital() -> None:
    (found,) = with_grounds([nugget("The trial had 4,400 volunteers.", "answer:b")], [chunk(PAGE)], BATTLE)
    assert (found.grounding, found.importance) == (Grounding.DISPUTED, Importance.OKAY)


WALL = "The Berlin Wall was built in August 1961 and fell in November 1989."


def of_wall(text: str) -> Grounds | None:
    battle = Battle(
        "wall",
        "a",
        "When did the Berlin Wall fall?",
        Answer("atlas", "The Berlin Wall fell on 9 November 1989."),
        Answer("birch", "The Berlin Wall fell on 9 November 1990. It was built in 1961."),
    )
    (found,) = with_grounds([nugget(text, "answer:b", "c1")], [chunk(WALL)], battle)
    return found.grounds


def test_a_source_with_another_date_disputes_a_claim_and_states_what_it_has() -> None:
    quoted = Quotation("c1", WALL, URL)
    assert of_wall("The Berlin Wall fell on 9 November 1990.") == Grounds(Grounding.DISPUTED, quoted)
    assert of_wall("The Berlin Wall fell in 1989.") == Grounds(Grounding.GROUNDED, quoted)
    assert of_wall("It was built in 1961.") == Grounds(Grounding.GROUNDED, quoted)


def test_a_source_that_says_only_the_month_neither_states_nor_disputes_the_day() -> None:
    answer = "The Berlin Wall fell on 9 November 1989."
    battle = Battle("wall", "a", "When?", Answer("x", answer), Answer("y", "In autumn."))
    (found,) = with_grounds([nugget(answer, "answer:a", "c1")], [chunk(WALL)], battle)
    assert found.grounds == Grounds(Grounding.ANSWER_ONLY, Quotation("answer:a", answer))


def test_a_pronoun_stands_for_what_the_answer_named_before() -> None:
    battle = Battle(
        "1",
        "a",
        "?",
        Answer("x", "The Eiffel Tower is in Paris. It was built in 1889."),
        Answer("y", "No idea."),
    )
    other = chunk("The Suez Bridge was built in 1889.")
    (found,) = with_grounds([nugget("It was built in 1889.", "answer:a", "c1")], [other], battle)
    assert found.grounding is Grounding.ANSWER_ONLY


def test_a_source_that_states_a_nugget_word_for_word_grounds_it_although_nobody_named_it() -> None:
    found = grounds("Cells break mRNA down quickly.", "answer:a")
    assert found == Grounds(Grounding.GROUNDED, Quotation("c1", "Cells break mRNA down quickly.", URL))


def test_what_only_an_answer_states_is_answer_only() -> None:
    claim = "Doctors were paid to keep quiet about it."
    assert grounds(claim, "answer:b") == Grounds(Grounding.ANSWER_ONLY, Quotation("answer:b", claim))
    assert grounds(claim, "answer:b", page=None) == Grounds(
        Grounding.ANSWER_ONLY, Quotation("answer:b", claim)
    )


def test_a_source_that_contradicts_a_claim_disputes_it_even_if_the_model_named_that_source() -> None:
    quoted = Quotation("c1", "The trial had 44 volunteers.", URL)
    claim = "The trial had 4,400 volunteers."
    assert grounds(claim, "answer:b") == Grounds(Grounding.DISPUTED, quoted)
    assert grounds(claim, "answer:b", "c1") == Grounds(Grounding.DISPUTED, quoted)


def test_a_source_that_denies_a_claim_disputes_it() -> None:
    quoted = Quotation("c1", "mRNA vaccines do not change your DNA.", URL)
    assert grounds(FALSE, "answer:b") == Grounds(Grounding.DISPUTED, quoted)
    assert grounds(FALSE, "answer:b", "c1") == Grounds(Grounding.DISPUTED, quoted)


def test_the_other_answer_disputes_what_no_source_states() -> None:
    battle = Battle(
        "1",
        "a",
        "What does it cost?",
        Answer("x", "The ticket costs 25 cents."),
        Answer("y", "The ticket costs 50 cents."),
    )
    (found,) = with_grounds([nugget("The ticket costs 25 cents.", "answer:a")], [], battle)
    assert found.grounds == Grounds(Grounding.DISPUTED, Quotation("answer:b", "The ticket costs 50 cents."))


def test_an_answer_disputes_nothing_that_a_source_states() -> None:
    battle = Battle(
        "1",
        "a",
        "What does it cost?",
        Answer("x", "The ticket costs 25 cents."),
        Answer("y", "The ticket costs 50 cents."),
    )
    (found,) = with_grounds(
        [nugget("The ticket costs 25 cents.", "answer:a")], [chunk("The ticket costs 25 cents.")], battle
    )
    assert found.grounding is Grounding.GROUNDED


def test_a_window_of_documents_does_not_ground_what_only_an_answer_in_it_states() -> None:
    window = ("answer:a", "answer:b", "c1")
    claim = "Doctors were paid to keep quiet about it."
    assert grounds(claim, *window, windows=True) == Grounds(
        Grounding.ANSWER_ONLY, Quotation("answer:b", claim)
    )
    assert grounds("The mRNA stays outside the nucleus.", *window, windows=True) == Grounds(
        Grounding.GROUNDED, Quotation("c1", "The mRNA stays outside the nucleus.", URL)
    )


def test_the_grounding_of_a_nugget_without_provenance_is_unknown_unless_a_text_states_it() -> None:
    assert grounds("Vaccination centres open at nine.") is None
    assert grounds("mRNA vaccines do not change your DNA.") == Grounds(
        Grounding.GROUNDED, Quotation("c1", "mRNA vaccines do not change your DNA.", URL)
    )
