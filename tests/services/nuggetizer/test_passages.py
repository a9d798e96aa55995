"""What is read of the evidence when not all is."""

from dataclasses import replace

from nuggetstream.domain.evidence import Evidence
from services.cli.wiring.settings import PipelineSettings
from services.nuggetizer.documents import NuggetSources, documents_of
from services.nuggetizer.stage import Nuggetizer
from tests import samples
from tests.services.nuggetizer.test_nuggetizer import live, out


def evidence(*texts: str) -> list[Evidence]:
    template = samples.retrieved(chunks=1).evidence[0]
    return [replace(template, chunk_id=f"c{number}", text=text) for number, text in enumerate(texts)]


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


def test_the_paper_profile_reads_all_and_the_judge_is_shown_half() -> None:
    live_, paper = PipelineSettings(), PipelineSettings(profile="paper")
    assert (live_.excerpted(), live_.excerpted(2)) == (7_000, 3_500)
    assert PipelineSettings(evidence_characters=1).excerpted(2) == 1  # not 0, which would be all
    assert PipelineSettings(evidence_characters=0).excerpted(2) is None
    assert paper.excerpted() is None
