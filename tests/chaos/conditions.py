"""What must hold when everything has calmed down: pure functions from what was seen to what is wrong.

received = scored + failed       every battle with a receipt has ended, and there are no others
held                             battles waited for the model while it was away, and none failed for it
paid once                        no prompt was paid for again, unless a kill cut its first call off
every strike struck              what was to be stopped, filled or away was so
boards as in a calm run          the same ratings, bounds, ranks and counts as without any trouble
counters as the rows             what is counted while rows are written is what the rows say
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from nuggetstream.domain.progress import BattleState

Board = Mapping[str, Any]

# A process handles 32 battles at once and asks at most twice for each of them (both orders, both answers).
CALLS_IN_FLIGHT = 64
# Seconds that a call may be noted after its process has ended; a process that starts again takes longer.
_LATE = 1.0


@dataclass(frozen=True, slots=True)
class Call:
    """A call that the model's endpoint answered, and thus was paid for.

    Attributes:
        caller: Name of the process that called.
        prompt: Hash of the request.
        at: When it arrived, in seconds of the driver's clock.
    """

    caller: str
    prompt: str
    at: float


@dataclass(frozen=True, slots=True)
class Kill:
    """A process was killed, or stopped for a while.

    Attributes:
        process: Its name.
        at: When it had ended or stood still, in seconds of the driver's clock.
    """

    process: str
    at: float


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen at the end of a run.

    Attributes:
        receipts: Ids of the battles for which the senders got a receipt.
        states: State of every battle in the database, by id.
        calls: Calls that were paid for, in order.
        kills: Processes that were killed or stopped.
        boards: All boards, as the API returns them.
        wrong_counters: Number of counters that differ from the rows, by table.
        held: Largest number of battles that waited when the model came back; None if it was never away.
        given_up: Ids of battles that failed because the model was away.
        missed: Strikes that had no effect.
    """

    receipts: Sequence[str]
    states: Mapping[str, BattleState]
    calls: Sequence[Call]
    kills: Sequence[Kill]
    boards: Sequence[Board]
    wrong_counters: Mapping[str, int]
    held: int | None = None
    given_up: Sequence[str] = ()
    missed: Sequence[str] = ()


def problems(seen: Seen, calm_boards: Sequence[Board]) -> list[str]:
    """Everything that is wrong, in sentences; empty when all conditions hold.

    Args:
        seen: What was seen.
        calm_boards: The boards of the same battles in a run without trouble.
    """
    return [
        *unaccounted(seen.receipts, seen.states),
        *not_held(seen.held, seen.given_up),
        *paid_again(seen.calls, seen.kills),
        *(f"{strike} had no effect" for strike in seen.missed),
        *different_boards(seen.boards, calm_boards),
        *(f"{count} counters of {table} are wrong" for table, count in seen.wrong_counters.items() if count),
    ]


def unaccounted(receipts: Iterable[str], states: Mapping[str, BattleState]) -> list[str]:
    """Battles that were lost, that came from nowhere, or that have not ended.

    >>> unaccounted(["one", "two"], {"one": BattleState.SCORED, "two": BattleState.RUNNING})
    ['two has not ended']
    """
    expected = set(receipts)
    lost = [f"{name} is lost, although its sender has a receipt" for name in sorted(expected - set(states))]
    unknown = [f"{name} is stored, and nobody has a receipt" for name in sorted(set(states) - expected)]
    running = [f"{name} has not ended" for name, state in states.items() if state is BattleState.RUNNING]
    return lost + unknown + running


def not_held(held: int | None, given_up: Iterable[str]) -> list[str]:
    """Battles that did not wait for a model that was away.

    >>> not_held(3, ["one"])
    ['one failed because the model was away']
    >>> not_held(0, [])
    ['no battle waited when the model came back']
    """
    failed = [f"{name} failed because the model was away" for name in sorted(set(given_up))]
    return failed + (["no battle waited when the model came back"] if held == 0 else [])


def paid_again(calls: Sequence[Call], kills: Sequence[Kill]) -> list[str]:
    """Prompts that were paid for again although no kill cut the call before off.

    A call is cut off when its process dies after it, with fewer later calls of the process than it can have
    in flight: its reply may not have been stored yet.

    >>> paid_again([Call("judge-1", "p", 1.0), Call("judge-2", "p", 9.0)], [Kill("judge-1", 2.0)])
    []
    >>> paid_again([Call("judge-1", "p", 1.0), Call("judge-2", "p", 9.0)], [Kill("judge-2", 2.0)])
    ['prompt p was paid for again by judge-2 at 9.0 s; judge-1 paid at 1.0 s and was not killed in between']
    """
    by_prompt: dict[str, list[Call]] = {}
    for call in calls:
        by_prompt.setdefault(call.prompt, []).append(call)
    return [
        f"prompt {second.prompt[:12]} was paid for again by {second.caller} at {second.at:.1f} s; "
        f"{first.caller} paid at {first.at:.1f} s and was not killed in between"
        for same in by_prompt.values()
        for first, second in pairwise(same)
        if not _was_cut_off(first, second, calls, kills)
    ]


def _was_cut_off(first: Call, second: Call, calls: Sequence[Call], kills: Sequence[Kill]) -> bool:
    dead = [k.at for k in kills if k.process == first.caller and first.at - _LATE <= k.at <= second.at]
    if not dead:
        return False
    later = [c for c in calls if c.caller == first.caller and first.at < c.at <= min(dead)]
    return len(later) < CALLS_IN_FLIGHT


def different_boards(boards: Sequence[Board], calm: Sequence[Board]) -> list[str]:
    """The lenses whose boards differ from those of the calm run, with the first difference.

    >>> different_boards([{"lens": "human", "scored": 2}], [{"lens": "human", "scored": 3}])
    ['board human: scored is 2, and 3 in the calm run']
    """
    by_lens = {board["lens"]: board for board in boards}
    found = []
    for expected in calm:
        board = by_lens.get(expected["lens"], {})
        first = next((key for key in expected if board.get(key) != expected[key]), None)
        if first is not None:
            name, here, there = f"board {expected['lens']}", board.get(first), expected[first]
            found.append(f"{name}: {first} is {here}, and {there} in the calm run")
    return found


def summary(seen: Seen) -> str:
    """The numbers of a run in one line.

    >>> summary(Seen(["one"], {"one": BattleState.SCORED}, [Call("judge", "p", 1.0)], [], [], {}))
    '1 received = 1 scored; 1 calls paid for 1 prompts; 0 kills'
    """
    states = Counter(state.value for state in seen.states.values())
    ended = " + ".join(f"{count} {state}" for state, count in states.most_common())
    prompts = len({call.prompt for call in seen.calls})
    held = f"; {seen.held} waited when the model came back" if seen.held else ""
    return (
        f"{len(seen.receipts)} received = {ended}; {len(seen.calls)} calls paid for {prompts} prompts; "
        f"{len(seen.kills)} kills{held}"
    )
