"""Which battles a caller may submit: those of its arenas, within its quota. For HTTP and gRPC."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from nuggetstream.files.submission import BattleSubmission
from services.access.callers import NotAllowed, Role, Unauthenticated
from services.access.visits import VISIT
from services.runtime.errors import Unavailable

if TYPE_CHECKING:
    from services.gateway.access.guard import Access


async def admitted(
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


async def each_admitted(
    access: "Access | None", submissions: Sequence[BattleSubmission | Exception]
) -> list[BattleSubmission | Exception]:
    """As `admitted`; while the database does not answer, that is the error of every submission."""
    try:
        return await admitted(access, submissions)
    except Unavailable as error:
        return [given if isinstance(given, Exception) else error for given in submissions]
