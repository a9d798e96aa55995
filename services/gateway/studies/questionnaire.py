"""What a worker of a study does: begin, get an item, answer it, withdraw.

    a cookie  ->  a worker  ->  the item before it, or the one that the boards need most  ->  an answer

The cookie is a random secret of which the database has a hash; nothing else says who a worker is.
"""

import asyncio
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial

from nuggetstream.crowd.assignment import OpenItem, Session, is_reversed, next_item
from nuggetstream.domain.battle import Battle
from nuggetstream.files.crowd_study import LONGEST_JUSTIFICATION
from nuggetstream.ratings.planning import label_needs
from services.access.keys import hash_of
from services.gateway.errors import InvalidQuery, Unknown, UnknownBattle
from services.gateway.studies.administration import StudyAdministration, battle_in, tally_of
from services.store.studies.study_rows import StoredStudy, StoredWorker
from services.store.studies.study_tasks import Answer, Answered, Begun, StudyTasks, Task

_PLANNED_FOR = timedelta(seconds=5)  # in which few people answer; a plan of a large study costs a second
_TURNED = {"a": "b", "b": "a"}


@dataclass(frozen=True, slots=True)
class Questionnaire:
    """What workers do.

    Attributes:
        administration: The studies, and their battles.
        tasks: What workers are given, in the database.
        clock: The time now.
    """

    administration: StudyAdministration
    tasks: StudyTasks
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    _plans: dict[str, tuple[datetime, Mapping[tuple[str, str], float]]] = field(default_factory=dict)

    async def study(self, study_id: str) -> StoredStudy:
        """The study of a link.

        Raises:
            Unknown: There is none with this id.
            Unavailable: The database does not answer.
        """
        study = None if "\x00" in study_id else await self.administration.studies.get(study_id)
        if study is None:
            raise Unknown("study", study_id)
        return study

    async def begin(self, study: StoredStudy, participant: str | None, language: str) -> tuple[Begun, str]:
        """Let somebody take part; returns what became of it, and the secret of the cookie."""
        cookie = secrets.token_urlsafe(32)
        worker = StoredWorker(
            id=f"w_{secrets.token_hex(8)}",
            study_id=study.id,
            participant=participant,
            cookie=hash_of(cookie),
            language=language,
            code=study.submission.completion_code or secrets.token_hex(4).upper(),
            begun_at=self.clock(),
        )
        return await self.tasks.begin(worker, study.submission.most_workers), cookie

    async def worker(self, study: StoredStudy, cookie: str | None) -> StoredWorker | None:
        """The worker of a cookie; None where it is none of this study."""
        return None if cookie is None else await self.tasks.worker(study.id, hash_of(cookie))

    async def task(self, study: StoredStudy, worker: StoredWorker) -> Task | None:
        """The item before a worker; None at the end."""
        now, asked = self.clock(), study.submission
        if worker.finished_at is not None:
            return None
        if (current := await self.tasks.current(worker.id, now)) is not None:
            return current
        worth = await self._worth(study)

        def choose(answered: list[OpenItem], candidates: list[OpenItem]) -> OpenItem | None:
            return next_item(session_of(study, answered), candidates, worth, asked.workers_per_pair)

        order = partial(is_reversed, share=asked.reversed_share)
        return await self.tasks.give(worker, choose, now, now + timedelta(minutes=asked.minutes), order)

    async def _worth(self, study: StoredStudy) -> Mapping[tuple[str, str], float]:
        """Two systems -> how much the boards need a label on them, as of a few seconds ago."""
        now = self.clock()
        made_at, worth = self._plans.get(study.id, (now, None))
        if worth is None or now - made_at > _PLANNED_FOR:
            worth = await self._planned(study)
            self._plans[study.id] = now, worth
        return worth

    async def _planned(self, study: StoredStudy) -> dict[tuple[str, str], float]:
        """The same as of now; empty where nothing can be planned."""
        studies = self.administration.studies
        tally = await tally_of(studies, study.id)
        if tally is None:
            return {}
        pairs = [pair for pair in await studies.systems(study.id) if pair[0] != pair[1]]
        needs = await asyncio.to_thread(label_needs, tally, pairs, study.submission.top)
        return {(need.a, need.b): need.worth for need in needs}

    async def battle(self, battle_id: str) -> Battle:
        """A battle of a study.

        Raises:
            UnknownBattle: It was deleted meanwhile.
        """
        async for _, _, body in self.administration.battles.submitted([battle_id]):
            return battle_in(body)
        raise UnknownBattle(battle_id)

    async def answer(self, study: StoredStudy, worker: StoredWorker, fields: Mapping[str, str]) -> Answered:
        """Store the answer in the fields of a form.

        Raises:
            InvalidQuery: An answer is missing or none that can be given, or the reason is too long.
            Unavailable: The database does not answer; sending the form again is safe.
        """
        number = fields.get("item", "")
        if not (number.isascii() and number.isdecimal() and len(number) < 10):
            raise InvalidQuery(["item: is no number"])
        reversed_ = await self.tasks.is_reversed(worker.id, int(number))
        if reversed_ is None:
            return Answered.UNKNOWN
        answer = answer_in(study, fields, reversed_=reversed_)
        return await self.tasks.answer(worker.id, int(number), answer, self.clock())

    async def feedback(self, study: StoredStudy, worker: StoredWorker) -> list[str] | None:
        """Names of the dimensions that a worker answered otherwise than the training item that it answered
        last; None where that was no training item."""
        right_labels = {item.battle: item.labels for item in study.submission.training}
        latest = await self.tasks.latest(worker.id)
        if latest is None or latest[0].battle not in right_labels:
            return None
        task, labels = latest
        wrong = [name for name, label in right_labels[task.battle].items() if labels.get(name) != label]
        return list(dict.fromkeys(name.partition(" ")[0] for name in wrong))


def session_of(study: StoredStudy, answered: list[OpenItem]) -> Session:
    """The session of a worker who answered some items."""
    asked = study.submission
    return Session(answered, training=len(asked.training), gold=len(asked.gold), pairs=asked.pairs_per_worker)


def answer_in(study: StoredStudy, fields: Mapping[str, str], *, reversed_: bool) -> Answer:
    """The answer in the fields of a form, which name the first and the second answer as they were shown.

    Args:
        study: The study.
        fields: Dimension -> "a" for the first, "b" for the second, "n" for neither; where answers are graded
            `NAME a` and `NAME b` -> grade; and `justification`.
        reversed_: Whether answer B was shown first.

    Raises:
        InvalidQuery: One is missing or cannot be given, or the reason is missing or too long.
    """
    asked, problems = study.submission, []
    labels: dict[str, str] = {}
    for name, allowed in asked.allowed().items():
        label = fields.get(name)
        if label not in allowed:
            problems.append(f"{name}: is missing" if label is None else f"{name}: is none of the answers")
            continue
        if asked.mode == "grade":
            dimension, _, side = name.partition(" ")
            labels[f"{dimension} {_TURNED[side]}" if reversed_ else name] = label
        else:
            labels[name] = _TURNED.get(label, label) if reversed_ else label
    reason = " ".join(fields.get("justification", "").split()) if asked.justify else None
    if reason is not None and not (0 < len(reason) <= LONGEST_JUSTIFICATION and "\x00" not in reason):
        problems.append(f"justification: needs 1 to {LONGEST_JUSTIFICATION} characters")
    if problems:
        raise InvalidQuery(problems)
    return Answer(labels, asked.deciding(labels), reason)
