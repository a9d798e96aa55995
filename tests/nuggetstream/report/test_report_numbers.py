"""The numbers of the sections, worked out by hand."""

from pathlib import Path
from typing import Any

import pytest

from nuggetstream.report import numbers
from nuggetstream.report.rows import read_results
from nuggetstream.statistics.share import share
from tests.evaluated import battle, file_of, judgment, nugget, round_robin


@pytest.fixture
def read(tmp_path: Path) -> Any:
    return lambda *battles: read_results(file_of(tmp_path, battles))


def test_a_wilson_interval_is_the_published_one() -> None:
    found = share(81, 263)  # Newcombe, 1998, table I
    assert (found.low, found.high) == (pytest.approx(0.2553, abs=1e-4), pytest.approx(0.3662, abs=1e-4))
    assert share(0, 0).value is None
    with pytest.raises(ValueError, match="1 of 0 cases"):
        share(1, 0)


def test_coverage_counts_each_source_of_preference_on_its_own(read: Any) -> None:
    failure = {"stage": "judge", "reason": "llm_refused"}
    found = numbers.coverage.compute(
        read(
            battle("b1"),
            battle("b2", human=None),
            battle("b3", judge=None, failures=[failure]),
            battle("b4", scores=None, language=""),
            battle("b5", a="same", b="same"),
        )
    )
    assert (found.received, found.scored) == (5, 3)
    assert (found.with_vote, found.with_nuggets, found.with_verdict) == (4, 4, 4)
    assert found.reasons == {"judge: llm_refused": 1}
    assert found.languages == {"en": 4, "not given": 1}
    assert found.self_battles == 1
    assert found.systems["same"] == 1


def test_three_lenses_that_agree_have_tau_one(read: Any) -> None:
    (arena,) = numbers.boards.compute(read(*round_robin()))
    assert [board.board.standings[0].system for board in arena.boards] == ["strong"] * 3
    assert [(order.tau, order.rho) for order in arena.orders] == [(1.0, pytest.approx(1.0))] * 3


def test_a_self_battle_counts_in_no_board(read: Any) -> None:
    (arena,) = numbers.boards.compute(read(*round_robin(), battle("alone", "weak", "weak")))
    assert [(board.scored, board.received) for board in arena.boards] == [(12, 13)] * 3


def test_the_order_of_two_systems_is_no_correlation(read: Any) -> None:
    battles = [battle("b1"), battle("b2", human="b", judge="b", scores=(0.2, 0.6))]
    (arena,) = numbers.boards.compute(read(*battles))
    assert all(order.tau is None and "2 systems" in (order.missing or "") for order in arena.orders)


def test_each_arena_has_its_own_boards(read: Any) -> None:
    found = numbers.boards.compute(read(battle("b1"), battle("b2", arena="other")))
    assert [(arena.arena, arena.boards[0].scored) for arena in found] == [("tides", 1), ("other", 1)]


def test_rows_of_the_confusion_are_people(read: Any) -> None:
    nuggets, _ = numbers.confusion.compute(
        read(
            battle("b1", human="a", scores=(0.1, 0.9)),
            battle("b2", human="both_bad", scores=(0.5, 0.5)),
            battle("b3", human="b", scores=None),
        )
    )
    assert nuggets.counts == ((0, 0, 1), (0, 1, 0), (0, 0, 0))
    assert (nuggets.compared, nuggets.labelled, nuggets.same) == (2, 3, 1)


def test_one_query_gives_no_interval(read: Any) -> None:
    found = numbers.baselines.compute(read(battle("b1", query="q"), battle("b2", query="q")))
    assert found[0].row.agreement.share == 1.0
    assert not any(each.has_interval for each in found)


def test_groups_that_do_not_overlap_have_a_distance_of_one(read: Any) -> None:
    won = [battle(f"a{i}", human="a", scores=(0.5 + i / 20, 0.1)) for i in range(6)]
    lost = [battle(f"b{i}", human="b", scores=(0.1, 0.5 + i / 20)) for i in range(6)]
    few = [battle("t", human="tie", scores=(0.5, 0.5))]
    (found,) = numbers.differences.compute(read(*won, *lost, *few))
    decided, *with_tie = sorted(found.comparisons, key=lambda test: test.missing is not None)
    assert (decided.first, decided.second, decided.statistic) == ("a", "b", 1.0)
    assert decided.p == decided.p_adjusted == pytest.approx(2 / 924)  # two of C(12, 6) orders
    assert all(test.statistic is None and test.missing for test in with_tie)
    (tie,) = [group for group in found.groups if group.vote == "tie"]
    assert tie.density is None
    assert "here 1" in (tie.missing or "")


def test_a_density_covers_an_area_of_one(read: Any) -> None:
    battles = [battle(f"b{i}", scores=(0.5, 0.3 + i / 20)) for i in range(8)]
    (found,) = numbers.differences.compute(read(*battles))
    assert sum(found.groups[0].density or ()) * 0.01 == pytest.approx(1, abs=1e-3)


def test_a_difference_equal_to_the_threshold_is_a_tie(read: Any) -> None:
    (found,) = numbers.thresholds.compute(read(battle("b1", scores=(0.6, 0.5)), battle("b2", human="b")))
    ties = {step.threshold: step.ties for step in found.steps}
    assert (ties[0.09], ties[0.1]) == (0.0, 0.5)
    agreement = {step.threshold: step.agreement for step in found.steps}
    assert (agreement[0.09], agreement[0.1]) == (0.5, 0.25)
    assert found.used == {0.07: 2}


def test_of_thresholds_with_one_kappa_the_smallest_is_best(read: Any) -> None:
    battles = [battle("b1", scores=(0.9, 0.1)), battle("b2", human="b", scores=(0.1, 0.9))]
    (found,) = numbers.thresholds.compute(read(*battles))
    assert (found.best, found.equals) == (0.0, 31)


def test_a_calibrated_threshold_between_two_hundredths_is_swept_too(read: Any) -> None:
    people = (("a", 0.9), ("b", -0.9), ("tie", 0.075), ("tie", -0.075))
    battles = [battle(f"b{i}", human=vote) for i, (vote, _) in enumerate(people)]
    for row, (_, margin) in zip(battles, people, strict=True):
        row["nugget_verdict"]["margin"] = margin
    (found,) = numbers.thresholds.compute(read(*battles))
    assert found.by_kappa.threshold == found.best == 0.075
    assert (found.steps[7].threshold, found.steps[7].ties) == (0.07, 0.0)
    assert (found.steps[8].threshold, found.steps[8].ties, found.steps[8].kappa) == (0.075, 0.5, 1.0)
    assert (len(found.steps), found.equals) == (32, 24)  # 0.075 and 0.08 to 0.3


def test_kappas_that_differ_by_rounding_alone_are_equal(read: Any) -> None:
    """A sixth twice: computed as 0.16666666666666663 up to 0.04, as 0.16666666666666674 from 0.15 on."""
    said = (("tie", 0.25), ("tie", -0.15), ("tie", -0.15), ("b", -0.05), ("tie", -0.05))
    battles = [battle(f"b{i}", human=vote) for i, (vote, _) in enumerate(said)]
    for row, (_, margin) in zip(battles, said, strict=True):
        row["nugget_verdict"]["margin"] = margin
    (found,) = numbers.thresholds.compute(read(*battles))
    kappas = {step.threshold: step.kappa for step in found.steps}
    assert kappas[0.0] == pytest.approx(1 / 6)
    assert kappas[0.15] == pytest.approx(1 / 6)
    assert kappas[0.0] != kappas[0.15]
    assert (found.best, found.equals) == (0.0, 15)


def test_human_ties_that_no_threshold_splits_have_no_even_split(read: Any) -> None:
    (found,) = numbers.thresholds.compute(read(battle("t", human="tie", scores=(0.1, 0.9)), battle("b1")))
    assert (found.equal_split.threshold, found.equal_split.tie_row) == (None, None)
    assert "all human ties are in one" in (found.equal_split.missing or "")
    ties = [battle(f"t{i}", human="tie", scores=each) for i, each in enumerate([(0.9, 0.1), (0.1, 0.9)])]
    (found,) = numbers.thresholds.compute(read(*ties, battle("b1")))
    assert (found.equal_split.threshold, found.equal_split.tie_row) == (0.0, (0.5, 0.0, 0.5))


def test_queries_are_those_of_the_battles_compared(read: Any) -> None:
    rows = [battle("b1"), battle("b2", human="tie"), battle("b3", scores=None), battle("b4", human=None)]
    found = {each.row.predictor: each for each in numbers.baselines.compute(read(*rows))}
    assert (found["nugget preference"].queries, found["nugget preference"].row.agreement.compared) == (1, 1)
    assert found["judge"].queries == 2


def test_inversions_are_counted_where_both_decide(read: Any) -> None:
    found = numbers.inversions.compute(
        read(
            battle("b1", human="b", tags=["category:science", "long"]),
            battle("b2", human="a", tags=["category:science"]),
            battle("b3", human="tie"),
            battle("b4", human="b", judge=None, language="de"),
        )
    )
    slices = {(each.by, each.name): each for each in found.slices}
    everything = slices["all", "all battles"].inverted
    assert (everything["nugget"].count, everything["nugget"].of) == (2, 3)
    assert (everything["judge"].count, everything["judge"].of) == (1, 2)
    of_all = slices["all", "all battles"].of_all  # the tie counts among the battles
    assert [(of_all[lens].count, of_all[lens].of) for lens in ("nugget", "judge")] == [(2, 4), (1, 3)]
    assert slices["category", "science"].inverted["nugget"].value == 0.5
    assert slices["category", "not given"].battles == 2
    assert slices["language", "de"].inverted["judge"].value is None


def test_the_audit_tells_flips_position_and_length(read: Any) -> None:
    (found,) = numbers.judges.compute(
        read(
            battle("b1"),  # A is longer
            battle("b2", judgments=[judgment("tie", flipped=True)], human="b"),
            battle("b3", judgments=[judgment("b", flipped=None)], human=None),
            battle("b4", judge=None),
        )
    )
    assert (found.judged, found.received) == (3, 4)
    assert (found.flipped.count, found.flipped.of) == (1, 2)
    assert (found.tied.count, found.tied.of) == (1, 3)
    assert (found.first_shown.count, found.first_shown.of) == (4, 6)
    assert (found.longer.count, found.longer.of) == (1, 2)
    assert (found.people_longer.count, found.people_longer.of) == (1, 2)
    assert found.own is None


def test_self_preference_compares_the_judge_with_people_over_the_same_battles(read: Any) -> None:
    judged = [judgment("b", model="right")]
    (found,) = numbers.judges.compute(
        read(
            battle("b1", human="a", judgments=judged),
            battle("b2", human="b", judgments=judged),
            battle("b3", human=None, judgments=judged),
            battle("b4", a="x", b="y", judgments=judged),
        )
    )
    assert found.own is not None
    assert (found.own.by_judge.count, found.own.by_judge.of) == (2, 2)
    assert (found.own.by_people.count, found.own.by_people.of) == (1, 2)


def test_diversity_is_one_minus_the_mean_overlap_of_two_nuggets_of_a_battle(read: Any) -> None:
    pairs = (("red moon", "red moon"), ("red moon", "blue sea"), ("red moon", "red sea"))
    rows = [battle(f"b{i}", nuggets=[nugget(x), nugget(y)]) for i, (x, y) in enumerate(pairs)]
    found = numbers.nuggets.compute(read(*rows, battle("one", nuggets=[nugget("red moon")])))
    assert found.diversity is not None
    assert (found.diversity.low, found.diversity.median, found.diversity.high) == pytest.approx((0, 2 / 3, 1))
    assert found.cosine is not None
    assert (found.cosine.low, found.cosine.median, found.cosine.high) == pytest.approx((0, 1 / 2, 1))
    assert (found.diversity.battles, found.cosine.battles, found.received) == (3, 3, 4)


def test_a_missing_label_is_counted_as_missing(read: Any) -> None:
    results = read(battle("b1", nuggets=[nugget(b=None), nugget("x", "okay")]))
    found = numbers.nuggets.compute(results)
    assert found.labels["vital"] == {"support": 1, "partial_support": 0, "not_support": 0, "no label": 1}
    assert found.vital is not None
    assert found.vital.mean == 0.5
    misses = {(row.system, row.which): row for row in numbers.misses.compute(results).rows}
    assert misses["right", "all nuggets"].labelled == 1
    assert misses["right", "vital nuggets"].labelled == 0


def test_misses_are_blamed_by_cause(read: Any) -> None:
    nuggets = [nugget(), nugget("2", cause="retrieval"), nugget("3", cause=None), nugget("4", b="support")]
    rows = numbers.misses.compute(read(battle("b1", nuggets=nuggets))).rows
    found = next(row for row in rows if (row.system, row.which) == ("right", "all nuggets"))
    assert (found.missed, found.labelled) == (3, 4)
    assert found.causes == {"generation": 1, "retrieval": 1, "unsourced": 0, "cause not known": 1}


def test_pages_are_counted_by_what_became_of_them(read: Any) -> None:
    pages = [
        {"state": "fetched", "quality": "ok", "chunks": 2},
        {"state": "rejected", "quality": "cookie_wall"},
        {"state": "pending"},
    ]
    side = {"system": "left", "text": "", "sources": pages}
    left, right = numbers.sources.compute(read(battle("b1") | {"a": side}))
    assert left.qualities == {"ok": 1, "cookie_wall": 1, "pending": 1}
    assert (left.pages, left.used, left.without) == (3, 1, 0)
    assert (right.pages, right.without) == (0, 1)


def test_an_unknown_cost_is_not_zero_and_currencies_do_not_mix(read: Any) -> None:
    dollars, euros = {"amount": 0.5, "currency": "USD"}, {"amount": 1.0, "currency": "EUR"}
    found = numbers.running.compute(read(battle("b1", cost=dollars), battle("b2", cost=euros), battle("b3")))
    assert [(cost.currency, cost.battles, cost.total) for cost in found.costs] == [
        ("USD", 1, 0.5), ("EUR", 1, 1.0),
    ]  # fmt: skip
    assert numbers.running.compute(read(battle("b1"))).costs == ()


def test_a_battle_that_ends_before_it_arrives_is_left_out(read: Any) -> None:
    found = numbers.running.compute(
        read(battle("b1"), battle("b2", ended_at="2026-05-04T11:00:00Z"), battle("b3", ended_at=None))
    )
    assert found.out_of_order == 1
    assert found.latency is not None
    assert found.latency.seconds == (2.0,)
