"""Which passages are read when not all are."""

from dataclasses import replace

from nuggetstream.domain.evidence import Evidence
from services.cli.wiring.settings import PipelineSettings
from services.nuggetizer.documents import NuggetSources, documents_of
from services.nuggetizer.passages import worth_reading
from services.nuggetizer.stage import Nuggetizer
from tests import samples
from tests.services.nuggetizer.test_nuggetizer import live, out

TEXTS = ("Why do tides rise twice a day?", "The moon pulls the sea.", "A force makes the far bulge.")


def evidence(*texts: str) -> list[Evidence]:
    template = samples.retrieved(chunks=1).evidence[0]
    return [replace(template, chunk_id=f"c{number}", text=text) for number, text in enumerate(texts)]


def test_passages_that_resemble_an_answer_or_the_query_are_kept_in_their_order() -> None:
    found = evidence(
        "Bread is baked in an oven.",
        "The far bulge is made by a force.",
        "Cars need petrol.",
        "A pull of the moon moves the sea.",
        "Tides rise twice a day in most places.",
    )
    assert [item.chunk_id for item in worth_reading(found, TEXTS, 3)] == ["c1", "c3", "c4"]
    assert worth_reading(found, TEXTS, 5) == found


def test_passages_alike_in_resemblance_are_taken_best_first() -> None:
    found = evidence("", "Bread.", "Oven.", "The moon pulls the sea.")
    assert [item.chunk_id for item in worth_reading(found, TEXTS, 2)] == ["c0", "c3"]


def test_a_limit_leaves_out_chunks_and_never_answers() -> None:
    event = samples.retrieved(chunks=12)
    kinds = [document.block.kind for document in documents_of(event, NuggetSources.BOTH, 4)]
    assert kinds == ["answer"] * 2 + ["chunk"] * 4
    assert len(documents_of(event, NuggetSources.BOTH)) == 14


async def test_a_list_made_from_fewer_passages_is_another_result() -> None:
    event = samples.retrieved(chunks=12)
    whole, part = [
        await out(Nuggetizer(live(("Tea.", "vital", [])), passages=limit), event) for limit in (None, 4)
    ]
    assert whole.key != part.key


async def test_an_excerpt_has_the_provenance_of_its_passage_and_is_another_key() -> None:
    found = evidence(
        "Cookies help us to serve you better.", "Sign up now, please. Tea is made of green leaves."
    )
    event = replace(samples.retrieved(), evidence=tuple(found))
    shown = documents_of(event, NuggetSources.CHUNKS, characters=39)
    assert [(document.block.text, document.provenance.document) for document in shown] == [
        ("Tea is made of green leaves.", "c1")
    ]
    whole = Nuggetizer(live(("Tea.", "vital", ["c1"])))
    assert (await out(whole, event)).key != (await out(replace(whole, characters=39), event)).key


def test_evidence_of_up_to_twice_the_limit_is_read_whole() -> None:
    found = evidence("Cookies help us to serve you better.", "Tea is made of green leaves.")
    event = replace(samples.retrieved(), evidence=tuple(found))

    def shown(limit: int) -> list[str]:
        documents = documents_of(event, NuggetSources.CHUNKS, characters=limit)
        return [document.block.text for document in documents]

    assert shown(32) == [item.text for item in found]
    assert shown(31) == ["Tea is made of green leaves."]


def test_the_paper_profile_reads_all() -> None:
    live_, paper = PipelineSettings(), PipelineSettings(profile="paper")
    assert live_.excerpted(live_.nugget_characters) == 7_000
    assert live_.excerpted(0) is None
    assert paper.excerpted(paper.nugget_characters) is None
