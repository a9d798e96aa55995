"""What each step of the creation of a nugget list changed."""

from nuggetstream.domain.nugget import MergedNugget, Revision
from nuggetstream.nuggets.history import Rewording, steps_of

SPEED = "Light travels 299,792 km per second."
SPEED_AGAIN = "In a vacuum, light travels 299,792 km per second."
SUN = "Sunlight reaches the Earth after eight minutes."
FIBRE = "Glass fibres carry signals."


def test_each_window_says_what_it_added_reworded_and_dropped() -> None:
    history = [
        Revision(("answer:a",), (SPEED, SUN)),
        Revision(("c1", "c2"), (SPEED_AGAIN, FIBRE)),
        Revision(("c3",), (SPEED_AGAIN, FIBRE)),
    ]
    first, second, third = steps_of(history)
    assert (first.documents, first.added, first.reworded, first.dropped) == (
        ("answer:a",),
        (SPEED, SUN),
        (),
        (),
    )
    assert (second.added, second.reworded, second.dropped) == (
        (FIBRE,),
        (Rewording(SPEED, SPEED_AGAIN),),
        (SUN,),
    )
    assert (third.added, third.reworded, third.dropped) == ((), (), ())


def test_a_nugget_is_in_one_rewording_at_most_the_most_similar() -> None:
    split = ("Light travels 299,792 km.", "Light travels 299,792 km per second in a vacuum.")
    step = steps_of([Revision((), (SPEED,)), Revision((), split)])[1]
    assert step.reworded == (Rewording(SPEED, split[1]),)
    assert step.added == (split[0],)
    assert step.dropped == ()


def test_a_step_names_what_it_merged() -> None:
    merged = (MergedNugget("Light is fast.", SPEED),)
    assert steps_of([Revision((), (SPEED,), merged)])[0].merged == merged


def test_a_list_without_steps_has_none() -> None:
    assert steps_of([]) == []
