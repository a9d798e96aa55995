"""The prepared battles are complete, point at pages that exist, and can be rated."""

import re
from itertools import chain
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from services.cli.demo import site as demo_site
from services.cli.demo.battles import read_battles
from services.cli.demo.site import DemoMissing, demo_root
from services.cli.demo.ugly import UGLY

SITE = "http://127.0.0.1:1"
BATTLES = read_battles(demo_root(), SITE)


def sources(answer: dict[str, Any]) -> list[dict[str, str]]:
    return answer["sources"]


def cited_paths(battle: dict[str, Any]) -> set[str]:
    every = chain(sources(battle["a"]), sources(battle["b"]))
    return {source["url"].removeprefix(SITE) for source in every if "url" in source}


@pytest.mark.parametrize("battle", BATTLES, ids=lambda battle: battle["id"])
def test_a_battle_has_every_field_the_intake_needs(battle):
    assert battle["arena"] == "demo"
    assert battle["query"].strip()
    assert battle["tags"]
    assert all(re.fullmatch(r"(category|type):[a-z-]+", tag) for tag in battle["tags"])
    assert battle["a"]["system"] != battle["b"]["system"]
    assert battle.get("vote") in {"a", "b", "tie", "both_bad", None}
    for answer in (battle["a"], battle["b"]):
        assert set(answer) == {"system", "text", "sources"}
        assert len(answer["text"]) > 200
        assert all(source["title"] and ("url" in source) != ("text" in source) for source in sources(answer))


@pytest.mark.parametrize("battle", BATTLES, ids=lambda battle: battle["id"])
def test_a_citation_marker_points_at_a_source_of_its_own_answer(battle):
    for answer in (battle["a"], battle["b"]):
        markers = {int(number) for number in re.findall(r"\[(\d+)\]", answer["text"])}
        assert markers <= set(range(1, len(sources(answer)) + 1))


@pytest.mark.parametrize("battle", BATTLES, ids=lambda battle: battle["id"])
def test_every_cited_address_is_a_page_or_a_known_ugly_case(battle):
    site = demo_root() / "site"
    pages = {f"/{path.relative_to(site).as_posix()}" for path in site.rglob("*") if path.is_file()}
    assert cited_paths(battle) <= pages | set(UGLY)


def test_ids_are_unique():
    assert len({battle["id"] for battle in BATTLES}) == len(BATTLES) >= 14


def test_four_languages_are_spoken():
    assert {battle["language"] for battle in BATTLES} == {"en", "de", "es", "ja"}


def test_every_ugly_page_is_cited_beside_a_good_one():
    beside_good = [paths & set(UGLY) for paths in map(cited_paths, BATTLES) if paths - set(UGLY)]
    assert set().union(*beside_good) == set(UGLY)


def test_about_forty_addresses_are_cited():
    assert len(set().union(*map(cited_paths, BATTLES))) >= 40


def test_some_battles_have_inline_sources_no_sources_or_no_vote():
    answers = [answer for battle in BATTLES for answer in (battle["a"], battle["b"])]
    assert any("text" in source for answer in answers for source in sources(answer))
    assert any(not sources(answer) for answer in answers)
    assert sum("vote" not in battle for battle in BATTLES) >= 2


def test_a_battle_is_the_last_turn_of_a_conversation():
    (turns,) = [battle["conversation"] for battle in BATTLES if "conversation" in battle]
    assert [turn["role"] for turn in turns] == ["user", "assistant"]


def test_decisive_votes_connect_all_systems_strongly():
    systems = sorted({battle[side]["system"] for battle in BATTLES for side in "ab"})
    beats = np.zeros((len(systems), len(systems)))
    for battle in BATTLES:
        if (winner := battle.get("vote")) in {"a", "b"}:
            loser = "b" if winner == "a" else "a"
            beats[systems.index(battle[winner]["system"]), systems.index(battle[loser]["system"])] += 1
    components, _ = connected_components(csr_array(beats), directed=True, connection="strong")
    assert len(systems) == 5
    assert components == 1


def test_a_missing_demo_folder_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(demo_site, "__file__", str(tmp_path / "services" / "cli" / "demo" / "site.py"))
    with pytest.raises(DemoMissing, match=re.escape(str(tmp_path / "demo"))):
        demo_root()
