"""The nuggetizer with importance by decisions, in each of the ways that endpoints answer them."""

import pytest

from nuggetstream.domain.event import BattleNuggetized
from nuggetstream.domain.nugget import Importance, Nugget
from services.nuggetizer.stage import Nuggetizer
from services.offline.app import create_app
from services.offline.faults import Faults
from services.runtime.llm.cache import MemoryReplyCache
from tests import samples
from tests.integration.llm.conftest import Connect

NATIVE, LOGPROBS, LETTERS = Faults(), Faults(decisions=False), Faults(decisions=False, logprobs=False)
TEXT = (
    "Tea is a drink that people brew from the leaves of one plant. Green and black tea differ in how long "
    "their leaves are exposed to air. A cup of black tea has about half the caffeine of a cup of coffee."
)


async def listed(connect: Connect, faults: Faults, *, decides: bool = True) -> tuple[Nugget, ...]:
    model = connect(create_app(None, faults), cache=MemoryReplyCache()).model
    fought = samples.battle(a=TEXT, b="Tea was first brewed in China, where the plant grows in the south.")
    nuggetizer = Nuggetizer(model, decisions=model if decides else None)
    (made,) = await nuggetizer(samples.retrieved(3, fought=fought))
    assert isinstance(made, BattleNuggetized)
    return made.nugget_list.nuggets


@pytest.mark.parametrize("faults", [NATIVE, LOGPROBS], ids=["decisions", "chat with logprobs"])
async def test_every_nugget_has_a_probability_that_its_importance_follows(
    connect: Connect, faults: Faults
) -> None:
    nuggets = await listed(connect, faults)
    known = [nugget.vital_probability for nugget in nuggets]
    assert len(set(known)) > 1
    for nugget, probability in zip(nuggets, known, strict=True):
        assert probability is not None
        assert 0 < probability < 1
        assert nugget.importance is (Importance.VITAL if probability >= 0.5 else Importance.OKAY)
    assert {nugget.importance for nugget in nuggets} == set(Importance)


async def test_letters_give_the_same_importance_without_probabilities(connect: Connect) -> None:
    by_letter, native = await listed(connect, LETTERS), await listed(connect, NATIVE)
    assert [(n.text, n.importance) for n in by_letter] == [(n.text, n.importance) for n in native]
    assert {nugget.vital_probability for nugget in by_letter} == {None}


async def test_a_model_that_declines_everything_leaves_the_list_as_it_is(connect: Connect) -> None:
    declined = await listed(connect, Faults(declined=1.0))
    plain = await listed(connect, NATIVE, decides=False)
    assert [(n.text, n.importance) for n in declined] == [(n.text, n.importance) for n in plain]
    assert {nugget.vital_probability for nugget in declined} == {None}
