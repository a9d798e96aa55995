"""The nugget bank: battles with the same query and the same evidence share one nugget list.

    used by this battle? ─no─> newest list ─> all answers read? ─yes─> use it
                                   │                └─no─> ask what the new answers add ─┐
                                   └─ none, or too old ─> create a list ─────────────────┴─> store it, use it

A list that a battle uses never changes: new facts, or another importance of a fact, make a further version.
So a message delivered twice gets the list that it got first, whatever other battles have added meanwhile.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from pydantic import TypeAdapter

from nuggetstream.domain.battle import Side
from nuggetstream.domain.event import BattleRetrieved
from nuggetstream.domain.identity import content_hash, derived_id, same_query
from nuggetstream.domain.nugget import OTHER_ANSWER, BankVersion, Importance, Provenance, Revision
from services.nuggetizer.creation import Created, Draft, trim, without_repetitions
from services.runtime.single_writer import SingleWriter
from services.store.content.nugget_banks import NuggetLists, StoredList


@dataclass(frozen=True, slots=True)
class BankedList:
    """A list of a bank as it is stored. An answer is named by the hash of its text, not by its side.

    Attributes:
        version: Number of the list in its bank.
        answers: Names of the answers that were read.
        created: The list.
    """

    version: int
    answers: tuple[str, ...]
    created: Created


_STORED: TypeAdapter[BankedList] = TypeAdapter(BankedList)
# Creates a list; asks what the answers of some sides add to nuggets.
Create = Callable[[], Awaitable[Created]]
Extend = Callable[[Sequence[str], Sequence[Side]], Awaitable[Sequence[Draft]]]


@lru_cache(maxsize=256)  # asked for every document of every nugget
def _name_of(text: str) -> str:
    return f"answer:{content_hash(text)}"


@dataclass(frozen=True, slots=True)
class Making:
    """How the list of a battle is created or extended.

    Attributes:
        event: The battle.
        bank: Id of its bank.
        sides: The answers that are read.
        most: Maximum number of nuggets in a list of the bank.
        create: Creates a list for this battle.
        extend: Says what answers add to nuggets.
    """

    event: BattleRetrieved
    bank: str
    sides: Sequence[Side]
    most: int
    create: Create
    extend: Extend

    def name(self, side: Side) -> str:
        """The name of an answer in stored lists."""
        return _name_of(self.event.battle.answer(side).text)

    @property
    def names(self) -> set[str]:
        """The names of the answers that are read."""
        return {self.name(side) for side in self.sides}


@dataclass(frozen=True, slots=True)
class NuggetBank:
    """The lists that battles share.

    Attributes:
        lists: Where they are stored.
        age: How long battles join a list after its creation; None for any time.
        writer: Lets one battle create or extend a list of a bank, while others wait for it.
        clock: The time now.
    """

    lists: NuggetLists
    age: timedelta | None = None
    writer: SingleWriter = field(default_factory=SingleWriter)
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    async def list_for(self, making: Making) -> tuple[BankVersion, Created]:
        """The list of a battle, which is created or extended where needed.

        Raises:
            StageError: A list could not be created or extended. Nothing is stored then, so that the next
                battle asks for its own.
        """
        turn = self.writer.turn(making.bank)
        listed, newest = await self._usable(making)
        if listed is None:
            async with turn.taken() as changed:
                if changed:
                    listed, newest = await self._usable(making)
                while listed is None:
                    listed = await self._grown(making, newest)
                    if listed is None:
                        listed, newest = await self._usable(making)
        return BankVersion(making.bank, listed.version), _for_battle(listed.created, making)

    async def _usable(self, making: Making) -> tuple[BankedList | None, StoredList | None]:
        """The stored list for a battle, and the newest of its bank.

        The first is None where a list must be created or extended first, the second for a bank without one.
        """
        bank, battle_id = making.bank, making.event.battle.id
        while True:
            used, newest = await self.lists.used_and_newest(bank, battle_id)
            if used is not None:
                return _STORED.validate_json(used.body), newest
            if newest is None or self._is_old(newest):
                return None, newest
            listed = _STORED.validate_json(newest.body)
            if not making.names <= set(listed.answers):
                return None, newest
            if await self.lists.use(bank, newest.step, battle_id):
                return listed, newest
            # It was deleted after it was read, so another one is the newest now.

    async def _grown(self, making: Making, newest: StoredList | None) -> BankedList | None:
        """Create the first list of a bank or extend its newest, and store it for this battle.

        Returns:
            None where another process was faster, because the claim of this one had ended; nothing is stored
            then.
        """
        banked = None if newest is None else _STORED.validate_json(newest.body)
        if newest is None or banked is None or self._is_old(newest):
            created = _renamed(await making.create(), lambda document: [_stored_name(document, making)])
            version = 1 if banked is None else banked.version + 1
            listed, started_at = BankedList(version, tuple(sorted(making.names)), created), self.clock()
        else:
            new = [side for side in making.sides if making.name(side) not in banked.answers]
            added = await making.extend([draft.text for draft in banked.created.drafts], new)
            listed, started_at = _extended(banked, added, new, making), newest.started_at
        step = 1 if newest is None else newest.step + 1
        stored = StoredList(step, started_at, _STORED.dump_json(listed))
        return listed if await self.lists.add(making.bank, stored, making.event.battle.id) else None

    def _is_old(self, stored: StoredList) -> bool:
        return self.age is not None and self.clock() - stored.started_at > self.age


def bank_of(event: BattleRetrieved, *settings: object) -> str:
    """Id of the bank of a battle: its arena, its query, earlier turns and evidence, and what changes a list.

    Letter case, width of characters and white space make no other query.
    """
    battle = event.battle
    chunks = sorted({item.chunk_id for item in event.evidence})
    turns = sorted([[turn.role.value, turn.text] for turn in battle.turns(side)] for side in Side)
    own = [turns] if any(turns) else []
    return derived_id("nugget bank", battle.arena, same_query(battle.query), chunks, *settings, *own)


def _extended(banked: BankedList, added: Sequence[Draft], new: Sequence[Side], making: Making) -> BankedList:
    """A list with what new answers add to it; its version stays where no text and no importance changes."""
    created, names = banked.created, [making.name(side) for side in new]
    more = [_draft(draft, lambda document: [_stored_name(document, making)]) for draft in added]
    distinct, merged = without_repetitions([*created.drafts, *more])
    drafts = trim(distinct, making.most)
    texts = tuple(draft.text for draft in drafts)
    changed = _facts(drafts) != _facts(created.drafts)
    return BankedList(
        banked.version + changed,
        tuple(sorted({*banked.answers, *names})),
        replace(created, drafts=drafts, history=[*created.history, Revision(tuple(names), texts, merged)]),
    )


def _facts(drafts: Sequence[Draft]) -> set[tuple[str, Importance]]:
    return {(draft.text, draft.importance) for draft in drafts}


def _stored_name(document: str, making: Making) -> str:
    sides = {f"answer:{side.value}": making.name(side) for side in Side}
    return sides.get(document, document)


def _for_battle(created: Created, making: Making) -> Created:
    """A stored list as one battle sees it: with its sides, and with its own pages."""
    evidence = {
        item.chunk_id: Provenance(item.chunk_id, item.url, item.content_hash, item.fetched_at)
        for item in making.event.evidence
    }

    def documents(name: str) -> list[str]:
        if not name.startswith("answer:"):
            return [name]
        own = [f"answer:{side.value}" for side in Side if making.name(side) == name]
        return own or [OTHER_ANSWER]

    renamed = _renamed(created, documents)
    return replace(
        renamed,
        drafts=[
            replace(
                draft, provenance=tuple(evidence.get(origin.document, origin) for origin in draft.provenance)
            )
            for draft in renamed.drafts
        ],
    )


def _renamed(created: Created, documents: Callable[[str], Sequence[str]]) -> Created:
    """A list whose documents have other names; a document can get several."""
    return replace(
        created,
        drafts=[_draft(draft, documents) for draft in created.drafts],
        history=[
            replace(
                step,
                documents=tuple(dict.fromkeys(new for name in step.documents for new in documents(name))),
            )
            for step in created.history
        ],
    )


def _draft(draft: Draft, documents: Callable[[str], Sequence[str]]) -> Draft:
    provenance = [
        replace(origin, document=new) for origin in draft.provenance for new in documents(origin.document)
    ]
    return replace(draft, provenance=tuple(dict.fromkeys(provenance)))
