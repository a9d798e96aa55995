"""Letting one evaluator grade a battle again: its input is published on a subject that it alone reads."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nuggetstream.domain.identity import derived_id
from services.store.battles.battles import Battles
from services.store.battles.inputs import recorded_input
from services.store.work.failed import FailedBattle
from services.wire.evaluators import EVALUATORS
from services.wire.publishing import Publish
from services.wire.subjects import event_name


@dataclass(frozen=True, slots=True)
class Regrading:
    """Publishes the inputs of evaluators again.

    Attributes:
        battles: Battles and their events.
        publish: Publishes an event to an evaluator.
        evaluators: Names of the declared evaluators.
    """

    battles: Battles
    publish: Publish
    evaluators: Sequence[str]

    async def grade_again(self, failed: FailedBattle) -> bool:
        """Let the evaluator of a failure grade the battle again.

        Doing so twice is one run, because the published event has a key that follows from the failure.

        Returns:
            False where the failure is closed, its evaluator is no longer declared, or the battle has not
            come far enough.

        Raises:
            Unavailable: The database or the broker does not answer.
        """
        name = failed.failure.evaluator
        if not failed.open or name is None or name not in self.evaluators:
            return False
        event = recorded_input(
            await self.battles.events_of(failed.battle_id), event_name(EVALUATORS[name].reads)
        )
        if event is None:
            return False
        event = replace(event, key=derived_id(event.key, "graded after", failed.key))
        await self.publish(event, name)
        return True
