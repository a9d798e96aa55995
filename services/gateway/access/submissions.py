"""Submitting battles, over HTTP and gRPC: those of the arenas of the caller, within its quota.

what was sent  ->  parsed, group by group  ->  allowed  ->  accepted  ->  a result for each, in order
"""

from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeVar

from nuggetstream.files.submission import BattleSubmission, InvalidSubmission
from nuggetstream.views.battles import Submitted
from services.access.callers import NotAllowed, Role, Unauthenticated
from services.access.visits import VISIT
from services.gateway.battles.groups import Groups
from services.gateway.errors import TooLarge
from services.runtime.errors import Unavailable
from services.runtime.large_work import sized
from services.runtime.turns import Turns

if TYPE_CHECKING:
    from services.gateway.access.guard import Access
    from services.gateway.ports import Gateway

T = TypeVar("T")


async def submitted_one(gateway: "Gateway", submission: BattleSubmission) -> Submitted:
    """Accept one battle.

    Raises:
        Denied: The caller may not submit it.
        Conflict: Another battle has its id.
        Unavailable: The database does not answer, or no battles can be accepted.
    """
    [outcome] = await _submitted(gateway, [submission])
    if isinstance(outcome, Exception):
        raise outcome
    return outcome


async def submitted_each(
    gateway: "Gateway", groups: Groups[T], parse: Callable[[T], BattleSubmission]
) -> AsyncIterator[tuple[T, Submitted | Exception]]:
    """Accept the battles of a stream, those that arrive together in one transaction.

    Args:
        gateway: Accepts them.
        groups: What arrives.
        parse: The battle of one of them; raises `InvalidSubmission` or `TooLarge` where it has none.

    Yields:
        What arrived, in order, each with its result or why it was rejected.
    """
    async for group in groups:
        given: list[BattleSubmission | Exception] = []
        turns = Turns()
        for item in group:
            try:
                given.append(await sized(groups.size(item), parse, item))
            except (InvalidSubmission, TooLarge) as error:
                given.append(error)
            await turns.pause()  # parsing awaits nothing: let other tasks run
        for pair in zip(group, await _submitted(gateway, given), strict=True):
            yield pair


async def _submitted(
    gateway: "Gateway", given: Sequence[BattleSubmission | Exception]
) -> list[Submitted | Exception]:
    """Accept battles; one result for each, in order. Errors of those that could not be read stay."""
    try:
        admitted = await _admitted(gateway.access, given)
    except Unavailable as error:
        return [item if isinstance(item, Exception) else error for item in given]
    submissions = [item for item in admitted if isinstance(item, BattleSubmission)]
    outcomes = iter(await gateway.intake.submit_all(submissions, datetime.now(UTC)))
    return [next(outcomes) if isinstance(item, BattleSubmission) else item for item in admitted]


async def _admitted(
    access: "Access | None", submissions: Sequence[BattleSubmission | Exception]
) -> list[BattleSubmission | Exception]:
    """The same submissions; in place of one that the caller may not submit there is the error.

    The caller is found again for every group, since its key may be revoked, or lose rights, while a stream of
    battles is open.

    Args:
        access: Checks callers; everything is admitted when None.
        submissions: Submissions, and errors of those that could not be read, which stay.

    Raises:
        Unavailable: The database does not answer.
    """
    visit, result = VISIT.get(), list(submissions)
    if access is None or visit is None:
        return result
    try:
        visit.caller = await visit.again()
    except Unauthenticated as error:
        return [given if isinstance(given, Exception) else error for given in result]
    allowed: list[int] = []
    for index, submission in enumerate(result):
        if isinstance(submission, Exception):
            continue
        try:
            visit.caller.require(Role.SUBMIT, submission.arena)
        except NotAllowed as error:
            result[index] = error
        else:
            allowed.append(index)
    taken = await access.quotas.take(visit.caller, len(allowed))
    for number, index in enumerate(allowed):
        submission = result[index]
        if number >= taken:
            result[index] = access.quotas.exhausted(visit.caller)
        elif isinstance(submission, BattleSubmission):
            visit.arenas.add(submission.arena)
    return result
