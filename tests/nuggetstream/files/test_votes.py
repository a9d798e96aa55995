"""Files of votes: what columns and outcomes may be called, and what is said about those that are wrong."""

import gzip
import json
from pathlib import Path

import pytest

from nuggetstream.domain.battle import Vote
from nuggetstream.files.columns import NamedColumns
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.outcomes import OutcomeWords
from nuggetstream.files.records import read_records
from nuggetstream.files.votes import CastVote, ReadOptions
from nuggetstream.ratings.study.sources import UnknownSource, gather
from tests.evaluated import battle, file_of


def written(folder: Path, text: str, name: str = "votes.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def votes_of(path: Path, reading: ReadOptions | None = None) -> tuple[CastVote, ...]:
    (only,) = gather([path], {}, reading or ReadOptions())
    return only.source.votes


def refusal(path: Path, reading: ReadOptions | None = None) -> str:
    with pytest.raises(UnusableFile) as refused:
        gather([path], {}, reading or ReadOptions())
    return str(refused.value).removeprefix(str(path))


@pytest.mark.parametrize(
    ("said", "outcome"),
    [
        ("a", Vote.A),
        ("A", Vote.A),
        ("model_a", Vote.A),
        ("left", Vote.A),
        ("x", Vote.A),
        ("1", Vote.A),
        ("[[B]]", Vote.B),
        ("Model B", Vote.B),
        ("right", Vote.B),
        ("y", Vote.B),
        ("0.0", Vote.B),
        ("tie", Vote.TIE),
        ("Draw", Vote.TIE),
        ("C", Vote.TIE),
        ("tie (bothbad)", Vote.BOTH_BAD),
        ("both_bad", Vote.BOTH_BAD),
        ("0.25", 0.25),
        ("0.5", 0.5),
    ],
)
def test_arenas_spell_an_outcome_in_many_ways(said: str, outcome: Vote | float) -> None:
    found = OutcomeWords().outcome(said, "x", "y")
    assert found == outcome
    assert type(found) is type(outcome)


@pytest.mark.parametrize("said", ["nan", "7", "-2", "maybe", "inf", "z"])
def test_an_outcome_that_is_none_is_refused(said: str) -> None:
    with pytest.raises(ValueError, match="expected a, b, tie"):
        OutcomeWords().outcome(said, "x", "y")


def test_a_winner_that_is_a_name_and_a_spelling_at_once_is_not_guessed() -> None:
    with pytest.raises(ValueError, match="name of one system"):
        OutcomeWords().outcome("a", "b", "a")
    assert OutcomeWords().outcome("a", "a", "b") is Vote.A


@pytest.mark.parametrize(
    "header",
    [
        "system_a,system_b,winner",
        "model_a,model_b,vote",
        "agent_a,agent_b,outcome",
        "left;right;winner",
        "a\tb\twinner",
    ],
)
def test_the_usual_columns_and_delimiters_are_found(tmp_path: Path, header: str) -> None:
    delimiter = next(mark for mark in ",;\t" if mark in header)
    row = delimiter.join(("x", "y", "a"))
    (vote,) = votes_of(written(tmp_path, f"{header}\n{row}\n"))
    assert (vote.system_a, vote.system_b, vote.outcome) == ("x", "y", Vote.A)


def test_csv_and_jsonl_gzipped_or_not_say_the_same(tmp_path: Path) -> None:
    plain = written(tmp_path, "\ufeffa,b,winner,weight,count\nx,y,tie,0.5,3\n")
    lines = written(
        tmp_path, json.dumps({"a": "x", "b": "y", "winner": "tie", "weight": 0.5, "count": 3}), "v.jsonl"
    )
    found = []
    for path in (plain, lines):
        zipped = path.with_name(path.name + ".gz")
        zipped.write_bytes(gzip.compress(path.read_bytes()))
        for each in (path, zipped):
            (vote,) = votes_of(each)
            found.append((vote.system_a, vote.system_b, vote.outcome, vote.weight, vote.count))
    assert found == [("x", "y", Vote.TIE, 0.5, 3)] * 4


def test_named_columns_go_before_usual_ones(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b,winner,first,second,said,points\nx,y,a,p,q,b,2\n")
    named = NamedColumns(a="first", b="second", winner="said", weight="points")
    (vote,) = votes_of(path, ReadOptions(named))
    assert (vote.system_a, vote.system_b, vote.outcome, vote.weight) == ("p", "q", Vote.B, 2.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b,winner\nx,y,a\nx,x,b\n", ":3: b: system 'x' battles itself"),
        ("a,b,winner\nx,,b\n", ":2: b: is missing"),
        ("a,b,winner\nx,y,nan\n", ": winner: none of 1 rows says an outcome"),
        ("a,b,winner\nx,y,0\nx,y,1\nx,y,2\n", ": winner: holds the numbers 0, 1, 2, which may mean several"),
        ("a,b,winner,weight\nx,y,a,-1\n", ":2: weight: is '-1'"),
        ("a,b,winner,weight\nx,y,a,nan\n", ":2: weight: is missing"),
        ("a,b,winner,weight\nx,y,a,\n", ":2: weight: is missing"),
        ("a,b,winner,count\nx,y,a,1e18\n", ":2: count: is '1e18'; expected a number from 0 to 1e+12"),
        ('{"a":' * 100_000, ":1: is not valid JSON"),
        ("a,b,winner,count\nx,y,a,two\n", ":2: count: is 'two'"),
        ("a,b,winner,count\nx,y,a,1.5\n", ":2: count: is '1.5'; expected a whole number"),
        ('a,b,winner\n"x\n1",y,a\nx,x,a\n', ":4: b: system 'x' battles itself"),  # a name over two lines
        ("a,b,winner\nx,y\n", ":2: has 2 fields under a header of 3"),
        ('a,b,winner\nx,"y,a\n', ":2: is not CSV"),
        ("a,b,a\nx,y,a\n", ":1: a: two columns have this name"),
        (
            "a,b,who\nx,y,a\n",
            ": winner or vote or outcome: is no column, see --winner; it has a, b",
        ),
        ("one,two,winner\nx,y,a\n", ": has no columns of the two systems"),
        ("a,b,winner\nx,y,\n", ": winner: none of 1 rows says an outcome"),
        ("a,b,winner\n", ": has no row under its header"),
        ("", ": is empty"),
        ("[]", ": has no row under its header"),
        ('[{"a": "x", "b": "y", "winner": "a"}, {"a": "x", "b": "x"}]', ":2: b: system 'x' battles itself"),
        ('["x", "y"]', ":1: is not a JSON object"),
        ('{"a": "x", "b": "y", "winner": NaN}', ": winner: none of 1 rows says an outcome"),
        ('{"a": "x", "b": "y", "winner": "a"}\n{"a": ["x"], "b": "y"}', ':2: a: is ["x"]; expected text'),
        ('{"a": "x", "b": "y", "winner": true}', ":1: winner: is 'True'; expected a, b, tie"),
        ('{"a": "x", "b": "y", "winner": "a", "weight": 1e999}', ":1: weight: is 'inf'"),
    ],
)
def test_what_is_wrong_is_named_by_file_line_and_field(tmp_path: Path, text: str, said: str) -> None:
    assert refusal(written(tmp_path, text)).startswith(said)


def test_a_file_that_is_not_there_broken_or_no_text_says_so(tmp_path: Path) -> None:
    assert "No such file" in refusal(tmp_path / "nothing.csv")
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(b"a,b,winner\nx,y,a\n" * 99)[:-9])
    assert "end-of-stream" in refusal(cut)
    latin = tmp_path / "latin.csv"
    latin.write_bytes("a,b,winner\nä,y,a\n".encode("latin-1"))
    assert "is not UTF-8 text" in refusal(latin)
    table = tmp_path / "table.parquet"
    table.write_bytes(b"PAR1\x15\x04")
    assert refusal(table).startswith(": is not Parquet: ")
    archive = tmp_path / "votes.csv"
    archive.write_bytes(b"PK\x03\x04")
    assert refusal(archive).startswith(": is a zip archive or a spreadsheet; unzip it")


def test_a_column_that_a_person_names_must_be_there(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b,winner\nx,y,a\n")
    for named in (
        NamedColumns(winner="won"),
        NamedColumns(weight="won"),
        NamedColumns(cluster="won"),
        NamedColumns(a="won", b="b"),
    ):
        refused = refusal(path, ReadOptions(named))
        assert refused.startswith(": won: is no column")
        assert refused.endswith("; it has a, b, winner")
    assert "name them together" in refusal(path, ReadOptions(NamedColumns(a="b")))


def test_a_vote_for_an_unknown_system_is_an_error(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b,winner\nx,y,a\nx,w,b\n")
    said = refusal(path, ReadOptions(systems=frozenset({"x", "y"})))
    assert said == ":3: b: system 'w' is unknown; known: x, y"


def test_names_that_look_alike_are_one_system_or_an_error(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b,winner\ncafe\u0301,y,caf\u00e9\ny,caf\u00e9\u00a0,caf\u00e9 \n")
    assert [(v.system_a, v.system_b, v.outcome) for v in votes_of(path)] == [
        ("café", "y", Vote.A),
        ("y", "café", Vote.B),
    ]
    path = written(tmp_path, "a,b,winner\nx\u2060,y,a\n")
    assert refusal(path) == ":2: a: contains the invisible character U+2060"


def test_a_row_without_an_outcome_is_counted_and_no_tie(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b,winner\nx,y,a\nx,y,\nx,y,b\n")
    (only,) = gather([path], {}, ReadOptions())
    assert (only.source.rows, only.source.cast, only.source.without_vote) == (3, 2, 1)


def test_only_rows_with_a_value_can_be_taken(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b,winner,language\nx,y,a,de\nx,y,b,en\n")
    (vote,) = votes_of(path, ReadOptions(where=(("language", "en"),)))
    assert vote.outcome is Vote.B
    assert refusal(path, ReadOptions(where=(("language", "fr"),))) == (
        ": language: no row has the value 'fr'; there is de, en"
    )
    assert refusal(path, ReadOptions(where=(("tongue", "fr"),))).startswith(": tongue: is no column")


def test_style_is_read_from_texts_or_from_amounts(tmp_path: Path) -> None:
    texts = written(tmp_path, 'a,b,winner,text_a,text_b\nx,y,a,"**Yes** [1][2]",no\n')
    (vote,) = votes_of(texts, ReadOptions(NamedColumns(style=True)))
    assert vote.style_a == (14.0, 2.0, 0.0, 0.0, 1.0)
    assert vote.style_b == (2.0, 0.0, 0.0, 0.0, 0.0)
    amounts = written(tmp_path, "a,b,winner,words_a,words_b\nx,y,a,10,-1\n")
    assert refusal(amounts, ReadOptions(NamedColumns(style=True, features=("words",)))).startswith(
        ":2: words_b: is '-1'"
    )
    assert "name columns of amounts with --feature" in refusal(amounts, ReadOptions(NamedColumns(style=True)))
    assert refusal(amounts, ReadOptions(NamedColumns(style=True, features=("bold",)))).startswith(
        ": bold_a: is no column"
    )


def test_lenses_of_an_evaluation_are_sources(tmp_path: Path) -> None:
    rows = [
        battle("b1", "x", "y", human="a", judge="b"),
        battle("b2", "x", "y", human=None, judge="tie"),
        battle("b3", "x", "x", human="a", judge="a"),  # has no outcome on any board
    ]
    path = file_of(tmp_path, rows)
    (human,) = gather([path], {}, ReadOptions())
    assert (human.source.name, human.source.cast, human.source.without_vote) == ("human", 1, 1)
    both = gather([path], {"judge": 0.2, "nugget": 1.0}, ReadOptions())
    assert [(each.source.name, each.weight, each.source.cast) for each in both] == [
        ("nugget", 1.0, 2),
        ("judge", 0.2, 2),
    ]


def test_results_without_human_votes_of_two_arenas_or_twice_the_same_are_refused(tmp_path: Path) -> None:
    path = file_of(tmp_path, [battle("b1", human=None)])
    assert "the lens 'human' has no vote; choose nugget, judge with --weigh" in refusal(path)
    path = file_of(tmp_path, [battle("b1"), battle("b2", arena="rivers")])
    assert "choose one with --where arena=rivers" in refusal(path)
    assert len(votes_of(path, ReadOptions(where=(("arena", "tides"),)))) == 1
    path = file_of(tmp_path, [battle("b1"), battle("b1")])
    assert refusal(path).startswith(":2: id: 'b1' is at")
    path = file_of(tmp_path, [battle("b1") | {"nugget_verdict": {"a": 1}}])
    assert refusal(path).startswith(":1: nugget_verdict.a")


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ({"judge": 1.0}, "'judge' is no source; there is votes"),
        ({"votes": 0.0}, "source 'votes' has weight 0"),
        ({"votes": -1.0}, "source 'votes' has weight -1"),
    ],
)
def test_a_weight_is_above_0_and_for_a_source_that_is_there(
    tmp_path: Path, weights: dict[str, float], said: str
) -> None:
    with pytest.raises(UnknownSource, match=said):
        gather([written(tmp_path, "a,b,winner\nx,y,a\n")], weights, ReadOptions())


def names_of(*paths: Path) -> list[str]:
    return [each.source.name for each in gather(paths, {}, ReadOptions())]


def test_files_of_the_same_name_are_called_by_enough_of_their_folders(tmp_path: Path) -> None:
    for folder in ("x/mine", "y/mine", "y/other"):
        (tmp_path / folder).mkdir(parents=True)
    text = "a,b,winner\nx,y,a\n"
    first, second, third = (written(tmp_path / at, text) for at in ("x/mine", "y/mine", "y/other"))
    assert names_of(second, third) == ["mine/votes", "other/votes"]
    assert names_of(first, second, third) == ["x/mine/votes", "y/mine/votes", "other/votes"]
    weighed = gather([second, third], {"mine/votes": 2.0}, ReadOptions())
    assert [each.weight for each in weighed] == [2.0, 1.0]


def test_two_formats_are_told_apart_by_their_ending_and_one_file_is_not_taken_twice(tmp_path: Path) -> None:
    path = written(tmp_path, "a,b,winner\nx,y,a\n")
    tabs = written(tmp_path, "a\tb\twinner\nx\ty\ta\n", "votes.tsv")
    assert names_of(path, tabs) == ["votes.csv", "votes.tsv"]
    with pytest.raises(UnknownSource, match="two sources are called"):
        gather([path, path], {}, ReadOptions())


def test_lenses_of_two_evaluations_carry_the_name_of_their_file(tmp_path: Path) -> None:
    for name in ("x", "y"):
        (tmp_path / name).mkdir()
    paths = [file_of(tmp_path / name, [battle(f"of {name}")]) for name in ("x", "y")]
    assert names_of(*paths) == ["x/results/human", "y/results/human"]
    found = gather(paths, {"judge": 0.5, "y/results/judge": 0.2, "x/results/human": 1.0}, ReadOptions())
    assert [(each.source.name, each.weight) for each in found] == [
        ("x/results/human", 1.0),
        ("x/results/judge", 0.5),
        ("y/results/judge", 0.2),
    ]


def test_a_battle_is_not_counted_twice_because_two_files_hold_it(tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    paths = [file_of(folder, [battle("b1")]) for folder in (tmp_path, tmp_path / "again")]
    with pytest.raises(
        UnusableFile, match=r"again/results.jsonl:1: id: 'b1' is at .*results.jsonl:1 already"
    ):
        gather(paths, {}, ReadOptions())


def test_an_answer_longer_than_a_csv_field_usually_is_can_be_read(tmp_path: Path) -> None:
    path = written(tmp_path, f"a,b,winner,text_a\nx,y,a,{'word ' * 40_000}\n")
    assert len(read_records(path)[0].fields["text_a"]) == 200_000
