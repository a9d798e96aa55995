"""What `nuggetstream rate` says around its numbers, and which questions it refuses."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from services.cli.main import main

FEW = "Intervals from fewer than 30 battles are only approximate: "


def rate(*arguments: str | Path) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["rate", *map(str, arguments)])
    return done.exit_code, done.output


def votes(folder: Path, *rows: str, columns: str = "a,b,winner,count") -> Path:
    path = folder / "votes.csv"
    path.write_text("\n".join([columns, *rows]) + "\n", encoding="utf-8")
    return path


def said(*arguments: str | Path) -> str:
    code, output = rate(*arguments)
    assert code == 0, output
    return output


def test_intervals_from_few_battles_or_clusters_are_called_approximate(tmp_path: Path) -> None:
    output = said(votes(tmp_path, "x,y,a,28", "x,y,b,3", "z,y,a,8", "z,y,b,4"))
    assert f"note: {FEW}z." in output
    enough = votes(tmp_path, "x,y,a,20", "x,y,b,10")
    assert FEW not in said(enough)
    few = f"{FEW}x, y.".replace("only approximate", "too narrow")
    assert few in said(votes(tmp_path, "x,y,a,20", "x,y,b,9"), "--intervals", "bootstrap")
    rows = [f"x,y,{'ab'[turn % 3 == 0]},{turn % 8}" for turn in range(60)]
    clustered = said(votes(tmp_path, *rows, columns="a,b,winner,voter"), "--cluster", "voter")
    assert "note: Intervals from fewer than 30 clusters are only approximate; here are 8." in clustered


def test_a_weight_makes_no_more_battles_and_a_dropped_tie_none(tmp_path: Path) -> None:
    heavy = votes(tmp_path, "x,y,a,50", "x,y,b,50", columns="a,b,winner,weight")
    assert f"{FEW}x, y" in said(heavy, "--provisional-below", "0")
    light = votes(tmp_path, "x,y,a,0.1,20", "x,y,b,0.1,20", columns="a,b,winner,weight,count")
    assert FEW not in said(light)
    ties = votes(tmp_path, "x,y,a,10", "x,y,b,10", "x,y,tie,5", "x,y,both_bad,5")
    assert FEW not in said(ties)
    assert f"{FEW}x, y" in said(ties, "--ties", "drop-both-bad")
    assert f"{FEW}x, y" in said(ties, "--ties", "drop")


def test_where_there_is_no_interval_none_is_too_narrow(tmp_path: Path) -> None:
    assert FEW not in said(votes(tmp_path, "x,y,tie,5"))


def test_elo_comes_with_how_often_each_system_won_outright(tmp_path: Path) -> None:
    path, out = votes(tmp_path, "x,y,a,2", "x,y,b,1", "x,y,tie,1", "y,z,b,1"), str(tmp_path / "out")
    output = said(path, "--elo", "--rounds", "5", "--out", out)
    table = output.split("Won outright, %")[1].split("written:")[0]
    header, *rows = [line.split() for line in table.splitlines() if line]
    assert header == ["system", "x", "y", "z"]
    assert rows == [["x", "–", "50", "–"], ["y", "25", "–", "0"], ["z", "–", "100", "–"]]
    found = json.loads((tmp_path / "out" / "ratings.json").read_text())["won_outright_percent"]
    assert found == {
        "systems": ["x", "y", "z"],
        "percent": [[None, 50, None], [25, None, 0], [None, 100, None]],
    }
    assert "Won outright" not in said(path)


def test_elo_names_the_groups_that_never_met(tmp_path: Path) -> None:
    path, out = votes(tmp_path, "x,y,a,3", "x,y,b,1", "p,q,a,1", "p,q,b,1"), tmp_path / "out"
    output = said(path, "--elo", "--ragelo", "--rounds", "5", "--out", out)
    never = "note: these groups never met, so Elo does not compare them either: p, q; x, y"
    assert output.count(never) == 2
    found = json.loads((out / "ratings.json").read_text(encoding="utf-8"))
    assert [each["islands"] for each in found["elo"]] == ["p, q; x, y"] * 2
    assert "never met" not in said(votes(tmp_path, "x,y,a,3", "x,y,b,1"), "--elo", "--rounds", "5")


def test_sums_of_weights_are_not_called_battles(tmp_path: Path) -> None:
    out = tmp_path / "out"
    weighted = said(votes(tmp_path, "x,y,a,2.5", "x,y,b,1", columns="a,b,winner,weight"), "--out", out)
    assert "won-lost-tied, weighted" in weighted
    assert "2.5-1-0" in weighted
    assert json.loads((out / "ratings.json").read_text(encoding="utf-8"))["rests_on"]["weighted"] is True
    assert "weighted" not in said(votes(tmp_path, "x,y,a,3", "x,y,b,1"), "--out", out)
    assert json.loads((out / "ratings.json").read_text(encoding="utf-8"))["rests_on"]["weighted"] is False


def test_a_negative_end_has_a_minus_sign_and_no_dash_behind_it(tmp_path: Path) -> None:
    path = votes(tmp_path, "x,y,a,30", "x,y,b,10")
    output = said(path, "--anchor", "x=100", "--intervals", "sandwich")
    (y,) = (line for line in output.splitlines() if line.split()[2:3] == ["y"])
    assert re.search(r" −91 +−2\d\d to 3\d ", y)
    (x,) = (line for line in said(path).splitlines() if line.split()[2:3] == ["x"])
    assert re.search(r" \d{4}–\d{4} ", x)


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        (("--resamples", "99"), "99 is not in the range 100<=x<=100000"),
        (("--rounds", "5"), "--rounds has no effect without --elo or --ragelo"),
        (("--k", "16"), "--k has no effect without --elo or --ragelo"),
        (("--battle", "id"), "--battle has no effect without --human"),
        (
            ("--intervals", "sandwich", "--bootstrap", "multinomial"),
            "--bootstrap has no effect without --intervals bootstrap",
        ),
        (
            ("--intervals", "sandwich", "--resamples", "500"),
            "--resamples has no effect without --intervals bootstrap",
        ),
        (("--level", "nan"), "Invalid value for '--level': 'nan' is no number"),
        (("--elo", "--k", "nan"), "Invalid value for '--k': 'nan' is no number"),
        (("--elo", "--k", "inf"), "Invalid value for '--k': 'inf' is no number"),
        (("--systems", "nofile.txt"), "there is no file 'nofile.txt'"),
        (("--systems", "./nofile"), "there is no file './nofile'"),
    ],
)
def test_a_question_that_would_be_ignored_is_refused(
    tmp_path: Path, options: tuple[str, ...], wrong: str
) -> None:
    code, output = rate(votes(tmp_path, "x,y,a,3", "x,y,b,1"), *options)
    assert code == 2
    assert wrong in " ".join(output.split())


@pytest.mark.parametrize("names", [("gpt-4.1", "maker/other-3"), ("model.large,", "y")])
def test_a_name_with_a_dot_or_a_slash_is_a_name(tmp_path: Path, names: tuple[str, str]) -> None:
    x, y = (name.removesuffix(",") for name in names)
    path = votes(tmp_path, f"{x},{y},a,3", f"{x},{y},b,1")
    assert x in said(path, "--systems", names[0], "--systems", names[1])


def test_the_lowest_system_is_not_first_because_its_rivals_are_provisional(tmp_path: Path) -> None:
    output = said(votes(tmp_path, "A,B,a,5", "A,B,b,1", "C,B,a,5", "C,B,b,1"))
    rows = [line.split() for line in output.splitlines()[2:5]]
    assert [row[2] for row in rows] == ["A", "C", "B"]
    assert {row[0] for row in rows} == {"–"}
    assert ">99%" not in output
    assert "no other system can be ranked" in output
