"""Whatever the offline model had a part in says so, with its measured agreement."""

import gzip
import json
from dataclasses import dataclass
from io import StringIO
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.offline import APART, DIMENSIONS, FIGURES, MEASURED, NOTICE
from nuggetstream.files.evaluated import BattleRow
from nuggetstream.files.results import read_results
from nuggetstream.report.build import write_report
from nuggetstream.report.sections import CHAPTERS
from nuggetstream.report.summary import agreement_row, predict
from nuggetstream.text.baselines import longer
from services.cli.evaluation.results import print_summary
from tests.e2e.processes import clean_environment, run_command
from tests.evaluated import battle, file_of, judgment, summarise

ROOT = Path(__file__).parents[2]


def lines(model: str) -> list[dict[str, Any]]:
    return [battle(f"b{n}", judgments=[judgment("a", model=model)], label_model=model) for n in range(3)]


@pytest.mark.parametrize(("model", "said"), [("offline-heuristic", True), ("gpt-5", False)])
def test_results_and_report_say_that_they_are_offline_heuristics(
    tmp_path: Path, model: str, said: bool
) -> None:
    summary = summarise((BattleRow.model_validate(line) for line in lines(model)), 0)
    assert summary.offline == (3 if said else 0)
    printed = StringIO()
    print_summary(Console(file=printed, width=1000), summary, [])
    assert (NOTICE in printed.getvalue()) is said
    results = file_of(tmp_path, lines(model))
    report = write_report(results, tmp_path / "report", chapters=CHAPTERS[-1:])
    assert (NOTICE in report.page.read_text(encoding="utf-8")) is said


def figures() -> Any:
    return json.loads(FIGURES.read_text(encoding="utf-8"))


def test_documents_and_banner_give_the_numbers_of_the_file() -> None:
    shares = {(row["predictor"], row["dimension"]): row for row in figures()["agreement"]}
    for name in ("README.md", "docs/offline-model.md", "benchmarks/README.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        for predictor in ("nugget preference", "judge", "longer answer wins"):
            overall = shares[predictor, DIMENSIONS[0]]
            assert f"{overall['share']:.3f}" in text.replace("**", ""), (name, predictor)
            assert f"({overall['low']:.2f}–{overall['high']:.2f})" in text, (name, predictor)
            assert all(f"{shares[predictor, dimension]['share']:.3f}" in text for dimension in DIMENSIONS)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for share in (APART.nuggets, APART.judge, APART.longer):
        assert f"{share:.3f}" in readme
    for measured in (MEASURED, APART):
        assert all(f"{share:.0%}" in NOTICE for share in (measured.nuggets, measured.judge, measured.longer))


@dataclass(frozen=True)
class Gold:
    query: str
    preferences: dict[str, Vote]


def test_the_agreement_follows_from_the_votes_and_the_recorded_gold_labels(recorded_data: Path) -> None:
    with gzip.open(recorded_data / "crowdrag25" / "battles.jsonl.gz", "rt", encoding="utf-8") as lines:
        battles = sorted(map(json.loads, lines), key=itemgetter("battle_id"))
    label = {"a": Vote.A, "b": Vote.B, "n": Vote.TIE}
    gold = [Gold(b["query"], {name: label[vote] for name, vote in b["gold"].items()}) for b in battles]
    written = figures()
    letters = {"a": Vote.A, "b": Vote.B, "t": Vote.TIE, "-": None}
    votes = {name: [letters[letter] for letter in text] for name, text in written["votes"].items()}
    assert written["battles"] == len(gold) == 791
    for row in written["agreement"]:
        again = agreement_row(gold, row["dimension"], row["predictor"], votes[row["predictor"]]).agreement
        assert (again.share, again.low, again.high) == (
            pytest.approx(row["share"]),
            pytest.approx(row["low"]),
            pytest.approx(row["high"]),
        )
    assert votes["longer answer wins"] == [longer(b["a"]["text"], b["b"]["text"]) for b in battles]


@pytest.mark.timeout(240)
async def test_an_evaluation_of_the_first_battles_gives_the_votes_of_the_file(
    recorded_data: Path, tmp_path: Path
) -> None:
    folder = recorded_data / "crowdrag25"
    file, documents = folder / "battles.jsonl.gz", folder / "documents.jsonl.gz"
    arguments = ("--documents", str(documents), "--limit", "8", "--out", str(tmp_path))
    code, output = await run_command(clean_environment(), "eval", str(file), *arguments)
    assert code == 0, output
    battles = sorted(read_results(tmp_path / "results.jsonl").battles, key=lambda battle: battle.id)
    votes, letters = predict(battles), {Vote.A: "a", Vote.B: "b", Vote.TIE: "t", None: "-"}
    assert len(battles) == 8
    for name in ("nugget preference", "judge"):
        known = figures()["votes"][name]
        other = sum(letters[vote] != known[place] for place, vote in enumerate(votes[name]))
        assert other <= 1, name  # processors differ in rounding
