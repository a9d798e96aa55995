"""What administrators do with failures: list, show, retry, discard. Every action may be repeated.

    the failure of a battle  ->  its failed stages run again (`store.reruns`), or it is marked as discarded
    of an evaluator          ->  the evaluator grades the battle again (`regrading`), or it is discarded
    a dead letter            ->  it is published again and deleted, or only deleted

A message whose battle has failed is represented by the failure of the battle.
"""

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from nuggetstream.domain.pipeline import Stage
from nuggetstream.views.failures import FailureAction, FailureEntry
from services.gateway.battles.intake import Intake
from services.gateway.errors import Unknown
from services.gateway.failures.dead_letters import DeadLetters, StoredLetter
from services.gateway.failures.regrading import Regrading
from services.store.battles.battle_search import Position
from services.store.work.failed import FailedBattle, FailedBattles, FailureFilter

_MOST_GRADERS = 100  # of one battle
_LETTER = re.compile(r"dead-([1-9][0-9]{0,17})")


@dataclass(frozen=True, slots=True)
class FailureActions:
    """Failures for administrators.

    Attributes:
        battles: Failures of battles, in the database.
        letters: Dead letters, at the broker.
        intake: Runs battles again.
        regrading: Lets evaluators grade battles again.
    """

    battles: FailedBattles
    letters: DeadLetters
    intake: Intake
    regrading: Regrading

    async def select(
        self, selection: FailureFilter, limit: int, after: Position | None = None
    ) -> list[FailureEntry]:
        """The newest failures that the filter selects, newest first.

        At one time the failures of battles come before dead letters, so that a page can begin anywhere.

        Args:
            selection: The filter.
            limit: Maximum number of failures.
            after: Time and id of the failure with which the page before ended; None for the first page.
        Raises:
            Unavailable: The database or the broker does not answer.
        """
        of_battles, of_letters = selection, selection
        key: tuple[datetime, str] | None = None
        below = None if after is None else _sequence(after.battle_id)
        if after is not None and below is not None:
            of_battles = replace(selection, until=after.received_at)
        elif after is not None:
            key = (after.received_at, after.battle_id)
            of_letters = replace(selection, until=after.received_at + timedelta.resolution)
        entries = [_battle_entry(failed) for failed in await self.battles.select(of_battles, limit, key)]
        entries += [_letter_entry(stored) for stored in await self.letters.select(of_letters, limit, below)]
        return sorted(entries, key=lambda entry: entry.failed_at, reverse=True)[:limit]

    async def show(self, failure_id: str) -> FailureEntry:
        """One failure.

        Raises:
            Unknown: There is none with this id, or its dead letter is gone.
            Unavailable: The database or the broker does not answer.
        """
        if (sequence := _sequence(failure_id)) is not None:
            stored = await self.letters.get(sequence)
            if stored is None:
                raise Unknown("failure", failure_id)
            return _letter_entry(stored)
        return _battle_entry(await self._failed_battle(failure_id))

    async def retry(self, failure_id: str) -> FailureAction:
        """Do the work of one failure again.

        Raises:
            Unknown: There is none with this id.
            Irretrievable: The message can no longer be read.
            Unavailable: The database or the broker does not answer; retrying again is safe.
        """
        if (sequence := _sequence(failure_id)) is not None:
            stored = await self._letter(failure_id, sequence)
            if stored is None:
                return FailureAction(id=failure_id, result="unchanged")
            await self.letters.publish_again(stored.letter)
            await self.letters.delete(sequence)
            return FailureAction(id=failure_id, result="retried")
        failed = await self._failed_battle(failure_id)
        return FailureAction(
            id=failure_id, result="retried" if await self._run_again(failed) else "unchanged"
        )

    async def retry_battle(self, battle_id: str) -> None:
        """Do all work of a battle again that failed; nothing while it runs.

        Raises:
            UnknownBattle: There is no such battle.
            Unavailable: The database or the broker does not answer; retrying again is safe.
        """
        await self.intake.run_again(battle_id, datetime.now(UTC))
        graders = FailureFilter(stage=Stage.GRADER, battle=battle_id)
        for failed in await self.battles.select(graders, _MOST_GRADERS):
            await self.regrading.grade_again(failed)

    async def discard(self, failure_id: str) -> FailureAction:
        """Remove one failure from the list; the battle stays failed.

        Raises:
            Unknown: There is none with this id.
            Unavailable: The database or the broker does not answer; discarding again is safe.
        """
        if (sequence := _sequence(failure_id)) is not None:
            if await self._letter(failure_id, sequence) is None:
                return FailureAction(id=failure_id, result="unchanged")
            await self.letters.delete(sequence)
        else:
            failed = await self._failed_battle(failure_id)
            if not failed.open:
                return FailureAction(id=failure_id, result="unchanged")
            await self.battles.discard(failure_id, datetime.now(UTC))
        return FailureAction(id=failure_id, result="discarded")

    async def _run_again(self, failed: FailedBattle) -> bool:
        if failed.failure.stage is Stage.GRADER:
            return await self.regrading.grade_again(failed)
        return await self.intake.run_again(failed.battle_id, datetime.now(UTC))

    async def _failed_battle(self, key: str) -> FailedBattle:
        failed = await self.battles.get(key)
        if failed is None:
            raise Unknown("failure", key)
        return failed

    async def _letter(self, failure_id: str, sequence: int) -> StoredLetter | None:
        """A dead letter; None when there was one, which is gone."""
        stored = await self.letters.get(sequence)
        if stored is None and not await self.letters.existed(sequence):
            raise Unknown("failure", failure_id)
        return stored


def _sequence(failure_id: str) -> int | None:
    match = _LETTER.fullmatch(failure_id)
    return None if match is None else int(match[1])


def _battle_entry(failed: FailedBattle) -> FailureEntry:
    return FailureEntry.showing(failed.failure, failed, id=failed.key, kind="battle")


def _letter_entry(stored: StoredLetter) -> FailureEntry:
    return FailureEntry.showing(
        stored.letter, id=f"dead-{stored.sequence}", kind="message", failed_at=stored.stored_at, open=True
    )
