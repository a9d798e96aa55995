"""A battle explained in Python: as text, in a notebook and as a frame."""

from pathlib import Path

import pytest

import nuggetstream as ns
from nuggetstream.files.opening import UnusableFile
from tests.evaluated import battle, file_of, nugget

FACT = "Tides & waves follow the <moon>."
MORE = {
    "state": "scored", "event_count": 7, "steps": [], "nugget_verdict": None,
    "explanation": ["The nuggets prefer A: “x < y”."], "nuggets": [nugget(FACT) | {"grounding": "disputed"}],
}  # fmt: skip


def test_a_battle_shows_who_states_which_nugget_and_what_decided_it(tmp_path: Path) -> None:
    found = ns.explain(file_of(tmp_path, [battle("b0"), battle("b1", **MORE)]), "b1")
    printed = str(found)
    assert printed == repr(found)
    lines = [" ".join(line.split()) for line in printed.splitlines()]
    assert lines[0] == "b1: query of b1"
    assert "importance grounding A: left B: right nugget" in lines
    assert f"vital disputed support not_support {FACT}" in lines
    assert lines[-1] == "The nuggets prefer A: “x < y”."
    in_notebook = found._repr_html_()
    assert "Tides &amp; waves follow the &lt;moon&gt;." in in_notebook
    assert "“x &lt; y”" in in_notebook
    frame = pytest.importorskip("polars") and found.to_frame()
    assert frame.rows() == [("vital", "disputed", "support", "not_support", FACT)]
    assert len(repr(found.a)) < 200


def test_a_battle_that_is_not_there_or_not_whole_is_named(tmp_path: Path) -> None:
    results = file_of(tmp_path, [battle("b0")])
    with pytest.raises(UnusableFile, match=r"results\.jsonl: has no battle 'b1'"):
        ns.explain(results, "b1")
    with pytest.raises(UnusableFile, match=r"results\.jsonl: b0: state: "):
        ns.explain(results, "b0")


def test_a_line_of_a_file_shows_its_answers_in_short(tmp_path: Path) -> None:
    file = tmp_path / "battles.csv"
    file.write_text(f"query,model_a,response_a,model_b,response_b,winner\nWhy?,x,{'So. ' * 900},y,No.,x\n")
    [line] = ns.read_battles(file)
    assert repr(line).startswith("Line 2: Why?")
    assert len(repr(line)) < 1200
    assert "vote: a" in repr(line)
