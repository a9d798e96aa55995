"""Adding, counting and exporting studies that ask people, for administrators.

a description of a study  ->  rows of the study and of its battles  ->  a link that nobody can guess
"""

import asyncio
import secrets
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

import numpy as np

from nuggetstream.crowd.assignment import ItemKind, OpenItem, strata
from nuggetstream.crowd.wording import text_problems
from nuggetstream.domain.battle import Battle
from nuggetstream.domain.event import BattleSubmitted
from nuggetstream.files.crowd_study import MOST_ITEMS, CrowdStudySubmission
from nuggetstream.ratings.fitting.tally import Tally
from nuggetstream.ratings.planning import boundary
from nuggetstream.views.crowd_studies import CrowdStudyView, StudyBoundary, StudyWorker
from services.access.callers import Role
from services.access.visits import VISIT
from services.gateway.errors import InvalidQuery, Unknown
from services.store.studies.studied_battles import StudiedBattles
from services.store.studies.studies import Studies
from services.store.studies.study_rows import StoredStudy
from services.wire.codec import decode, schema_of

MOST_SYSTEMS = 500
"""Above this number pairs are handed out without a plan: a covariance of all systems costs too much."""
_NAMED = 10  # problems of battles in one reply


@dataclass(frozen=True, slots=True)
class StudyAdministration:
    """What administrators do with studies.

    Attributes:
        studies: The studies in the database.
        battles: The battles that they are about.
        clock: The time now.
    """

    studies: Studies
    battles: StudiedBattles
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    async def add(self, submission: CrowdStudySubmission) -> CrowdStudyView:
        """Store a study of an arena of the caller.

        Raises:
            NotAllowed: The caller may not administrate the arena.
            InvalidQuery: A battle is not in the arena, or a text is missing.
            Unavailable: The database does not answer; nothing was stored.
        """
        visit = VISIT.get()
        if visit is not None:
            visit.caller.require(Role.ADMIN, submission.arena)
            visit.arenas.add(submission.arena)
        names, graded = submission.names, submission.mode == "grade"
        if problems := text_problems(submission.texts, submission.languages, names, graded=graded):
            raise InvalidQuery(problems)
        items = await self._items(submission)
        pairs = sum(item.kind is ItemKind.PAIR for _, item in items)
        asked = submission.model_copy(
            update={"pairs_per_worker": min(pairs, submission.pairs_per_worker), "battles": []}
        )
        study = StoredStudy(f"st_{secrets.token_hex(16)}", submission.arena, asked, self.clock())
        await self.studies.add(study, items)
        return await self.view(study)

    async def _items(self, submission: CrowdStudySubmission) -> list[tuple[str, OpenItem]]:
        """The items of a study, each after the id of its battle: training, gold, and the pairs."""
        kind_of = {item.battle: ItemKind.TRAINING for item in submission.training}
        kind_of |= {item.battle: ItemKind.GOLD for item in submission.gold}
        pairs = submission.battles
        if not pairs:
            newest = await self.battles.newest(submission.arena, MOST_ITEMS + len(kind_of))
            pairs = [battle for battle in newest if battle not in kind_of][:MOST_ITEMS]
        kinds = kind_of | dict.fromkeys(pairs, ItemKind.PAIR)
        shapes: dict[str, tuple[str, str, int]] = {}
        async for battle_id, arena, body in self.battles.submitted(list(kinds)):
            battle = battle_in(body)
            if arena == submission.arena:
                length = len(battle.a.text) + len(battle.b.text)
                shapes[battle_id] = battle.a.system, battle.b.system, length
        missing = [battle for battle in kinds if battle not in shapes]
        if missing or not pairs:
            named = [f"battles: {battle!r} is not in arena {submission.arena!r}" for battle in missing]
            raise InvalidQuery(named[:_NAMED] or [f"battles: arena {submission.arena!r} has none"])
        groups = dict(zip(pairs, strata([shapes[battle][2] for battle in pairs]), strict=True))
        return [
            (
                battle,
                OpenItem(
                    number=number,
                    kind=kind,
                    system_a=shapes[battle][0],
                    system_b=shapes[battle][1],
                    stratum=groups.get(battle, 0),
                ),
            )
            for number, (battle, kind) in enumerate(kinds.items())
        ]

    async def of_caller(self, study_id: str) -> StoredStudy:
        """A study of an arena of the caller; others are as unknown as those that do not exist."""
        study, visit = await self.studies.get(study_id), VISIT.get()
        if study is None or (visit is not None and not visit.caller.may(Role.ADMIN, study.arena)):
            raise Unknown("study", study_id)
        if visit is not None:
            visit.arenas.add(study.arena)
        return study

    async def view(self, study: StoredStudy) -> CrowdStudyView:
        """A study, how far it is, and how much the boards still need."""
        progress = await self.studies.progress(study.id, self.clock())
        tally = await tally_of(self.studies, study.id)
        edge = None
        if tally is not None:
            edge = await asyncio.to_thread(boundary, tally, study.submission.top)
        return CrowdStudyView.showing(
            study,
            name=study.submission.name,
            link=f"/studies/{study.id}",
            wanted=progress["pairs"] * study.submission.workers_per_pair,
            best=study.submission.top,
            boundary=None if edge is None else StudyBoundary.showing(edge),
            **progress,
        )

    async def workers(self, study: StoredStudy) -> list[StudyWorker]:
        """The workers of a study, with how many known labels of gold items they gave."""
        expected = {item.battle: item.labels for item in study.submission.gold}
        gold: dict[str, list[bool]] = defaultdict(list)
        most = len(expected) * study.submission.most_workers
        for answer in await self.studies.answers(study.id, None, max(most, 1), ItemKind.GOLD):
            right = expected.get(answer.battle, {})
            gold[answer.worker] += [answer.labels.get(name) == label for name, label in right.items()]
        return [
            StudyWorker.showing(
                worker, answered=answered, gold=len(gold[worker.id]), gold_right=sum(gold[worker.id])
            )
            for worker, answered in await self.studies.workers(study.id)
        ]


def battle_in(body: bytes) -> Battle:
    """The battle in an encoded event that submitted it."""
    return cast(BattleSubmitted, decode(schema_of(BattleSubmitted), body)).battle


async def tally_of(studies: Studies, study_id: str) -> Tally | None:
    """What the answers say about the systems of a study; None where there are too many to plan for."""
    pairs = await studies.systems(study_id)
    names = tuple(sorted({name for pair in pairs for name in pair}))
    if not names or len(names) > MOST_SYSTEMS:
        return None
    return _tally(names, await studies.outcomes(study_id))


def _tally(names: tuple[str, ...], outcomes: Iterable[tuple[str, str, str, int]]) -> Tally:
    index = {name: number for number, name in enumerate(names)}
    wins, ties, none = np.zeros((3, len(names), len(names)))
    for system_a, system_b, label, count in outcomes:
        a, b = index[system_a], index[system_b]
        if a == b:  # a system beside itself says nothing about the order of systems
            continue
        match label:
            case "a":
                wins[a, b] += count
            case "b":
                wins[b, a] += count
            case _:
                ties[a, b] += count
                ties[b, a] += count
    return Tally(names, wins, ties, none)
