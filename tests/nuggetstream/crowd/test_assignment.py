"""What a worker of a study is given: training first, every length alike, and what the boards need most."""

from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from nuggetstream.crowd.assignment import ItemKind, OpenItem, Session, is_reversed, next_item, strata


def pair(number: int, a: str = "x", b: str = "y", stratum: int = 0, taken: int = 0) -> OpenItem:
    return OpenItem(number, ItemKind.PAIR, a, b, stratum, taken)


def session(*answered: OpenItem, training: int = 0, gold: int = 0, pairs: int = 15) -> Session:
    return Session(answered, training=training, gold=gold, pairs=pairs)


def test_the_pair_that_the_boards_need_most_is_next() -> None:
    items = [pair(1), pair(2, "z", "y"), pair(3, "x", "z")]
    chosen = next_item(session(), items, {("y", "z"): 2.0, ("x", "y"): 1.0}, 5)
    assert chosen == items[1]


def test_of_equal_pairs_the_one_that_most_workers_judged_is_finished_first() -> None:
    items = [pair(1), pair(2, taken=3), pair(3, taken=5)]
    assert next_item(session(), items, {}, 5) == items[1]
    assert next_item(session(), items[2:], {}, 5) is None  # five workers are enough


def test_a_worker_meets_every_length_equally_often() -> None:
    items = [pair(number, stratum=number % 3) for number in range(60)]
    answered: list[OpenItem] = []
    worth = {("x", "y"): 1.0}
    while (
        chosen := next_item(session(*answered), [i for i in items if i not in answered], worth, 5)
    ) is not None:
        answered.append(chosen)
    assert Counter(item.stratum for item in answered) == {0: 5, 1: 5, 2: 5}


def test_training_comes_first_and_gold_lies_between_the_pairs() -> None:
    items = [pair(number) for number in range(30)]
    items += [replace(pair(100 + n), kind=ItemKind.TRAINING) for n in range(2)]
    items += [replace(pair(200 + n), kind=ItemKind.GOLD) for n in range(2)]
    answered: list[OpenItem] = []
    while True:
        open_items = [item for item in items if item not in answered]
        chosen = next_item(session(*answered, training=2, gold=2, pairs=5), open_items, {}, 5)
        if chosen is None:
            break
        answered.append(chosen)
    assert "".join(item.kind.value[0] for item in answered) == "ttppgppgp"


def test_groups_by_length_have_equal_size() -> None:
    assert strata([]) == []
    assert strata([7] * 7) == [0, 0, 0, 1, 1, 2, 2]


@given(share=st.sampled_from([0.0, 1 / 3, 0.5, 1.0]), first=st.integers(0, 50))
def test_a_share_of_all_workers_sees_the_other_order(share: float, first: int) -> None:
    shown = [is_reversed(number, taken, share) for number in range(first, first + 6) for taken in range(6)]
    assert sum(shown) == round(36 * share)
