"""What decided a battle, in words."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from nuggetstream.domain.battle import Answer, Battle, Side, Source, Vote
from nuggetstream.domain.event import (
    BattleAssigned,
    BattleFailed,
    BattleIndexed,
    BattleJudged,
    BattleNuggetized,
    BattleRetrieved,
    BattleScraped,
    BattleVoted,
)
from nuggetstream.domain.evidence import Evidence, Page, PageState
from nuggetstream.domain.failure import Reason, StageFailure
from nuggetstream.domain.judgment import Judgment, OrderedVerdict, combine_orders
from nuggetstream.domain.nugget import (
    Assignment,
    AssignmentSet,
    Importance,
    Nugget,
    NuggetList,
    Provenance,
    Support,
)
from nuggetstream.domain.pipeline import Stage
from nuggetstream.domain.snapshot import BattleSnapshot, snapshot_of
from nuggetstream.nuggets.explanation import explain

YES, PART, NO = Support.SUPPORT, Support.PARTIAL_SUPPORT, Support.NOT_SUPPORT
WRONG = Support.CONTRADICTION
BATTLE = Battle("1", "arena", "Why?", Answer("x", "X.", (Source("https://a"),)), Answer("y", "Y."))
CHUNK = Evidence("c1", "text", "https://a", "", "", None, cited_by=(Side.A,), score=1.0)
PAGE = Page("https://a", "https://a", "", PageState.FETCHED, "ok", "", "", "", None)
NOW = datetime(2025, 5, 4, tzinfo=UTC)


def nugget(name: str, *documents: str, importance: Importance = Importance.VITAL) -> Nugget:
    return Nugget(name, f"Fact {name}", importance, tuple(Provenance(document) for document in documents))


def snapshot(states: dict[Nugget, tuple[Support, Support]]) -> BattleSnapshot:
    labels = tuple(
        Assignment(n.id, side, support)
        for n, both in states.items()
        for side, support in zip(Side, both, strict=True)
    )
    nugget_list = NuggetList(tuple(states), (), "live", "both", "m", "1")
    return BattleSnapshot(BATTLE, evidence=(CHUNK,), nugget_list=nugget_list, assignments=labels)


def judged(a_first: Vote, b_first: Vote) -> Judgment:
    verdicts = (OrderedVerdict(Side.A, a_first, ""), OrderedVerdict(Side.B, b_first, ""))
    winner, flipped = combine_orders(verdicts)
    return Judgment("pairwise", winner, flipped, verdicts, "m", "1")


def vote(value: Vote, at: datetime = NOW) -> BattleVoted:
    return BattleVoted(f"{value}{at}", "1", "arena", "x", "y", value, at)


def test_sources_that_were_not_read_are_counted_and_blame_nobody() -> None:
    sources = (Source("https://b"), Source("https://c"), Source("https://d"))
    battle = replace(BATTLE, b=Answer("y", "Y.", sources))
    lost = [replace(PAGE, url=url, state=PageState.REJECTED) for url in ("https://b", "https://d")]
    read = snapshot({nugget("1", "c1"): (YES, NO), nugget("2", "answer:b"): (NO, YES)})
    explained = explain(replace(read, battle=battle, pages=(PAGE, *lost)))
    assert [miss.cause for miss in explained.misses] == [None, None]
    assert explained.lines[-3:] == (
        "A misses 1 nugget: 1 of unknown cause.",
        "B misses 1 nugget: 1 of unknown cause.",
        "2 sources of B could not be fetched, so it is unknown which nuggets they state.",
    )


def test_the_sentences_name_what_only_one_answer_states_and_whose_fault_the_rest_is() -> None:
    states = {
        nugget("1", "c1"): (YES, YES),
        nugget("2", "c1"): (YES, NO),
        nugget("3", "answer:b"): (NO, PART),
        nugget("4", "c1"): (PART, YES),
        nugget("5", "c1"): (NO, NO),
        nugget("6", "c1", importance=Importance.OKAY): (YES, NO),
    }
    explained = explain(snapshot(states))
    assert explained.margin == pytest.approx(3.5 / 6 - 2.5 / 6)
    assert (explained.threshold, explained.preference) == (0.07, Vote.A)
    assert explained.scores is not None
    assert explained.scores[Side.B].all_score == pytest.approx(2.5 / 6)
    assert explained.lines == (
        "The nuggets prefer A: All Scores 0.58 (A) and 0.42 (B) differ by more than "
        "the tie threshold of 0.07.",
        "Of 5 key facts, A misses 2 and B misses 2; both miss 1.",
        "Only A states: “Fact 2”",
        "Only B states, and in part: “Fact 3”",
        "B states in full what A states in part: “Fact 4”",
        "A misses 2 nuggets: 1 in its own sources but not used (generation), "
        "1 in no source, only in an answer (unsourced).",
        "B misses 3 nuggets: 3 only in sources it did not find (retrieval).",
    )


def test_a_contradiction_is_an_error_of_the_answer_and_no_miss() -> None:
    states = {nugget("1", "c1"): (YES, WRONG), nugget("2", "c1", importance=Importance.OKAY): (WRONG, NO)}
    found = snapshot(states)
    labels = [
        replace(label, quote="It is not so.") if label.support is WRONG and label.side is Side.B else label
        for label in found.assignments or ()
    ]
    explained = explain(replace(found, assignments=tuple(labels)))
    assert [(error.nugget.id, error.side, error.quote) for error in explained.contradictions] == [
        ("1", Side.B, "It is not so."),
        ("2", Side.A, None),
    ]
    assert [(miss.nugget.id, miss.side) for miss in explained.misses] == [("2", Side.B)]
    assert "Only A states: “Fact 1”" in explained.lines
    assert "B contradicts: “Fact 1” It says: “It is not so.”" in explained.lines
    assert "A contradicts: “Fact 2”" in explained.lines
    assert explained.scores is not None
    assert explained.scores[Side.B].all_score == 0.0


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ([(YES, YES), (YES, PART)], "Neither misses any of 2 key facts."),
        ([(YES, YES), (NO, NO)], "Both miss 1 of 2 key facts."),
        ([(YES, NO), (NO, WRONG)], "Of 2 key facts, A misses 1 and B misses 2; both miss 1."),
        ([(YES, NO), (PART, YES)], "Of 2 key facts, A misses none and B misses 1."),
        ([(YES, PART)], "Neither misses the only key fact."),
        ([(NO, NO)], "Both miss the only key fact."),
    ],
)
def test_what_both_or_neither_state_is_said_in_words(
    labels: list[tuple[Support, Support]], said: str
) -> None:
    states = {nugget(str(number), "c1"): each for number, each in enumerate(labels)}
    assert explain(snapshot(states)).lines[1] == said


def test_a_difference_within_the_threshold_is_called_a_tie() -> None:
    explained = explain(snapshot({nugget("1", "c1"): (YES, YES)}))
    assert explained.preference is Vote.TIE
    assert explained.lines[0].startswith("The nuggets see a tie: All Scores 1.00 (A) and 1.00 (B)")


def test_a_missing_label_is_not_a_miss_and_not_a_zero() -> None:
    complete = snapshot({nugget("1", "c1"): (YES, NO), nugget("2", "c1"): (YES, NO)})
    lacking = replace(complete, assignments=(complete.assignments or ())[:-1])
    explained = explain(lacking)
    assert explained.scores is None
    assert explained.preference is None
    assert [miss.nugget.id for miss in explained.misses] == ["1"]
    assert "cannot be scored: 1 of 2 nuggets have no label" in explained.lines[0]


@pytest.mark.parametrize(
    ("judgment", "line"),
    [
        (
            judged(Vote.A, Vote.A),
            "The judge (pairwise) agrees with the nuggets: A is better, in both orders.",
        ),
        (
            judged(Vote.B, Vote.B),
            "The judge (pairwise) disagrees with the nuggets: B is better, in both orders.",
        ),
        (
            judged(Vote.A, Vote.B),
            "The judge (pairwise) flipped, which counts as a tie: "
            "A is better when A comes first and B is better when B comes first.",
        ),
    ],
)
def test_the_judge_agrees_disagrees_or_flips(judgment: Judgment, line: str) -> None:
    said = replace(snapshot({nugget("1", "c1"): (YES, NO)}), judgments=(judgment,))
    assert explain(said).lines[-1] == line


def test_a_judge_who_finds_both_bad_agrees_with_a_tie() -> None:
    tied = replace(snapshot({nugget("1", "c1"): (NO, NO)}), votes=(vote(Vote.BOTH_BAD),))
    assert explain(tied).lines[-1] == "The human vote agrees with the nuggets: both are bad."


def test_without_nuggets_the_failure_speaks_and_opinions_are_compared_with_nothing() -> None:
    failure = StageFailure(Stage.ASSIGNER, Reason.LLM_REFUSED, "It said no.")
    lines = explain(BattleSnapshot(BATTLE, failures=(failure,), judgments=(judged(Vote.B, Vote.B),))).lines
    assert lines == (
        "There are no nugget scores: Label failed, because the model refused to answer: It said no.",
        "The judge (pairwise): B is better, in both orders.",
    )


def test_texts_without_a_fact_are_a_finding_and_no_failure() -> None:
    empty = StageFailure(Stage.NUGGETIZER, Reason.NOTHING_TO_SCORE, "the documents contain no fact")
    assert explain(BattleSnapshot(BATTLE, failures=(empty,))).lines == (
        "There are no nugget scores, because the documents contain no fact.",
    )


def test_nuggets_that_wait_for_their_labels_decide_nothing_yet() -> None:
    waiting = replace(snapshot({nugget("1", "c1"): (YES, NO)}), assignments=None)
    explained = explain(waiting)
    assert (explained.scores, explained.margin, explained.preference) == (None, None, None)
    assert (explained.misses, explained.lines, explained.threshold) == ((), (), 0.07)


def test_a_judge_who_gave_up_is_named_unless_another_has_answered() -> None:
    late = StageFailure(Stage.JUDGE, Reason.DEADLINE, "It took too long.")
    failed = replace(snapshot({nugget("1", "c1"): (YES, NO)}), failures=(late,))
    assert (
        explain(failed).lines[-1]
        == "There is no verdict of the judge, because it took too long: It took too long."
    )
    answered = explain(replace(failed, judgments=(judged(Vote.A, Vote.A),))).lines
    assert not any("because" in line for line in answered)
    other = replace(failed, failures=(StageFailure(Stage.SCRAPER, Reason.DEADLINE, "Late."),))
    assert not any("because" in line for line in explain(other).lines)


def test_a_judge_asked_in_one_order_did_not_say_it_in_both() -> None:
    once = Judgment("pairwise", Vote.A, None, (OrderedVerdict(Side.A, Vote.A, ""),), "m", "1")
    said = replace(snapshot({nugget("1", "c1"): (YES, NO)}), judgments=(once,))
    assert explain(said).lines[-1] == "The judge (pairwise) agrees with the nuggets: A is better."


def test_vital_misses_come_first_and_one_nugget_is_not_many() -> None:
    okay, vital = nugget("1", "c1", importance=Importance.OKAY), nugget("2", "c1")
    explained = explain(snapshot({okay: (NO, YES), vital: (NO, YES)}))
    assert [miss.nugget.id for miss in explained.misses] == ["2", "1"]
    alone = explain(snapshot({vital: (NO, YES)})).lines
    assert alone[-1] == "A misses 1 nugget: 1 in its own sources but not used (generation)."


def test_a_battle_nobody_has_looked_at_has_no_explanation() -> None:
    assert explain(BattleSnapshot(BATTLE)).lines == ()


def test_a_snapshot_holds_the_newest_of_everything() -> None:
    first = snapshot({nugget("1", "c1"): (YES, NO)})
    second = snapshot({nugget("2", "c1"): (NO, YES)})
    assert first.nugget_list is not None
    assert second.nugget_list is not None
    failure = StageFailure(Stage.JUDGE, Reason.DEADLINE, "late")
    told = snapshot_of(
        BATTLE,
        [
            BattleRetrieved("r", BATTLE, (), (CHUNK,), "hybrid"),
            BattleNuggetized("n", BATTLE, first.nugget_list),
            BattleFailed("f", "1", "arena", failure),
            BattleAssigned("a", BATTLE, first.nugget_list, AssignmentSet(first.assignments or (), "m", "1")),
            BattleNuggetized("n2", BATTLE, second.nugget_list),
            BattleJudged("j", BATTLE, judged(Vote.A, Vote.A)),
            BattleJudged("j2", BATTLE, judged(Vote.B, Vote.B)),
            vote(Vote.A, NOW),
            vote(Vote.TIE, NOW - timedelta(hours=1)),
        ],
    )
    assert told.nugget_list is first.nugget_list  # the labels belong to this list, not to the newer one
    assert told.assignments == first.assignments
    assert [judgment.winner for judgment in told.judgments] == [Vote.B]
    assert told.votes == (vote(Vote.A, NOW),)
    assert told.failures == (failure,)
    assert told.evidence == (CHUNK,)


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        ((YES, YES), ["Neither misses the only key fact."]),
        ((NO, NO), ["Both miss the only key fact."]),
        ((YES, NO), ["Only A states: “Fact n1”"]),
    ],
)
def test_one_vital_nugget_is_spoken_of_as_one(labels: tuple[Support, Support], said: list[str]) -> None:
    lines = explain(snapshot({nugget("n1", "c1"): labels})).lines
    assert [line for line in lines if "key fact" in line or "Fact" in line] == said


def test_a_snapshot_grows_by_what_each_event_tells() -> None:
    first, later = (replace(PAGE, quality=quality) for quality in ("first", "later"))
    lists = [snapshot({nugget(name): (YES, NO)}).nugget_list for name in "12"]
    assert snapshot_of(BATTLE, [BattleScraped("s", BATTLE, (first,))]).pages == (first,)
    assert snapshot_of(BATTLE, [BattleIndexed("i", BATTLE, (later,), ())]).pages == (later,)
    retrieved = BattleRetrieved("r", BATTLE, (later,), (CHUNK,), "hybrid")
    told = snapshot_of(BATTLE, [BattleScraped("s", BATTLE, (first,)), retrieved])
    assert (told.pages, told.evidence) == ((later,), (CHUNK,))
    unlabelled = snapshot_of(BATTLE, [BattleNuggetized(str(n), BATTLE, each) for n, each in enumerate(lists)])
    assert (unlabelled.nugget_list, unlabelled.assignments) == (lists[1], None)


def test_of_several_voters_the_majority_is_the_human_vote() -> None:
    cast = [
        replace(vote(value), key=name, voter=name)
        for name, value in (("u1", Vote.A), ("u2", Vote.B), ("u3", Vote.B))
    ]
    told = explain(replace(snapshot({nugget("1", "c1"): (YES, NO)}), votes=tuple(cast)))
    assert told.lines[-1] == "The majority of people (2 of 3) disagrees with the nuggets: B is better."
    split = explain(replace(snapshot({nugget("1", "c1"): (YES, NO)}), votes=tuple(cast[:2])))
    assert split.lines[-1] == (
        "The vote of 2 people, without a majority, disagrees with the nuggets: both are equally good."
    )


def test_a_snapshot_names_judges_in_order_and_keeps_the_newest_vote_the_last_of_equals() -> None:
    other = replace(judged(Vote.A, Vote.A), evaluator="another")
    told = snapshot_of(
        BATTLE,
        [
            BattleJudged("j", BATTLE, judged(Vote.B, Vote.B)),
            BattleJudged("k", BATTLE, other),
            vote(Vote.A, NOW - timedelta(hours=1)),
            vote(Vote.TIE, NOW),
            vote(Vote.B, NOW),
        ],
    )
    assert [judgment.evaluator for judgment in told.judgments] == ["another", "pairwise"]
    assert told.votes == (vote(Vote.B, NOW),)
