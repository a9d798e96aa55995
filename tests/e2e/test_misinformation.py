"""A false claim that only one answer makes is not shown as a fact that the honest answer missed."""

import re
from pathlib import Path

import httpx2
from rich.console import Console

from nuggetstream.client import AsyncClient
from nuggetstream.domain.lens import Lens
from nuggetstream.domain.nugget import Grounding
from nuggetstream.domain.offline import NOTICE
from nuggetstream.views.battles import BattleView
from services.cli.demo.explain import explanation
from services.cli.wiring.embedded import Choices, embedded
from services.cli.wiring.fetch_settings import FetchSettings
from services.cli.wiring.settings import PipelineSettings
from services.runtime.llm.settings import LLMSettings
from tests.e2e.with_model import ended

CLAIM = "They change your DNA a little."
DISPUTED = "The mRNA stays in cells for 90 weeks."
PAGE = (
    "Fever and fatigue are common on the first days after a second dose. The mRNA never enters the nucleus, "
    "where DNA is kept. The mRNA stays in cells for 2 weeks."
)
BATTLE = {
    "arena": "health",
    "query": "Do mRNA vaccines change your DNA?",
    "vote": "a",
    "a": {
        "system": "honest",
        "text": "The mRNA never enters the nucleus, where DNA is kept. Cells break it down within days.",
        "sources": [{"url": "https://health.example/mrna", "text": PAGE}],
    },
    "b": {"system": "false", "text": f"{CLAIM} {DISPUTED}"},
}


def shown_on_a_terminal(view: BattleView) -> str:
    console = Console(width=500)
    with console.capture() as captured:
        for part in explanation(view.model_dump(mode="json")):
            console.print(part)
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


async def test_a_false_claim_is_no_fact_that_the_honest_answer_missed(tmp_path: Path) -> None:
    pipeline = PipelineSettings(embedding_model="none", nugget_lens="grounded")
    choices = Choices(folder=tmp_path, pipeline=pipeline, fetch=FetchSettings(), llm=LLMSettings(), grace=2.0)
    async with embedded(choices) as running, AsyncClient(running.url, patience=60) as client:
        submitted = await client.submit(BATTLE)
        view = await ended(client, submitted.battle_id)
        nuggets = {nugget.text: nugget for nugget in view.nuggets}
        assert nuggets[CLAIM].importance == "vital"  # for the scores of the papers it counts as it did
        assert nuggets[CLAIM].grounding is Grounding.ANSWER_ONLY
        assert nuggets[CLAIM].quotation is not None
        assert nuggets[CLAIM].quotation.document == "answer:b"
        assert nuggets[DISPUTED].grounding is Grounding.DISPUTED
        assert nuggets[DISPUTED].quotation is not None
        assert nuggets[DISPUTED].quotation.text == "The mRNA stays in cells for 2 weeks."
        assert nuggets[DISPUTED].quotation.url == "https://health.example/mrna"
        for text in (CLAIM, DISPUTED):
            assert nuggets[text].a is not None
            assert nuggets[text].a.cause is None
            assert not any(
                line.startswith(("Only B states", "B states in full")) for line in view.explanation
            )
            (row,) = [line for line in shown_on_a_terminal(view).splitlines() if line.endswith(text)]
            assert "vital" not in row
            assert "✗" not in row
        assert f"Only B makes a claim that no source confirms: “{CLAIM}”" in view.explanation, (
            view.explanation
        )
        assert not any("unsourced" in line for line in view.explanation)

        assert view.grounded_verdict is not None
        assert view.grounded_verdict.preference == "a"
        assert view.grounded_verdict.nuggets == sum(n.grounding is Grounding.GROUNDED for n in view.nuggets)
        async with httpx2.AsyncClient(base_url=running.url, timeout=90) as http:
            page = (await http.get(f"/battles/{view.id}")).text
            for shown in (page, (await http.get("/leaderboard", params={"arena": "health"})).text):
                assert "<summary><strong>Offline heuristics" in shown
            for name in ("honest", "false"):  # neither missed by the one nor a strength of the other
                system = await http.get("/system", params={"arena": "health", "name": name})
                assert system.status_code == 200
                assert CLAIM not in system.text
        assert NOTICE.split(".")[0] in shown_on_a_terminal(view)
        facts, claims = page.split('id="claims"')
        claims = claims.split("</section>")[0]
        assert CLAIM in claims
        assert CLAIM not in facts.split('<section class="rail"')[1]
        (row,) = [part for part in claims.split('<li id="nugget-') if f">{CLAIM}</span></summary>" in part]
        assert "misses" not in row
        assert not re.search(r'class="importance', row)
        boards = await client.leaderboard("health")
        assert [(board.lens, board.scored) for board in boards] == [
            (lens, 1) for lens in (Lens.HUMAN, Lens.GROUNDED, Lens.JUDGE)
        ]
        (every,) = await client.leaderboard("health", lens="nugget")
        assert (every.lens, every.scored) == (Lens.NUGGET, 1)
        assert view.leading is Lens.GROUNDED
