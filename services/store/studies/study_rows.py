"""What is stored of studies that ask people, as values."""

from dataclasses import dataclass
from datetime import datetime

from nuggetstream.crowd.assignment import ItemKind
from nuggetstream.files.crowd_study import CrowdStudySubmission


@dataclass(frozen=True, slots=True)
class StoredStudy:
    """A study as stored.

    Attributes:
        id: Its id, which nobody can guess: the link to it.
        arena: Arena of its battles.
        submission: What is asked, without the ids of the battles.
        created_at: When it was added.
        closed_at: When it was closed; None while it is open.
    """

    id: str
    arena: str
    submission: CrowdStudySubmission
    created_at: datetime
    closed_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class StudyProgress:
    """How far a study is.

    Attributes:
        pairs: Pairs that people judge, without training and gold.
        answered: Pairs that workers judged, each worker counted.
        open: Pairs that workers have before them.
        workers: Workers who began.
        finished: Workers who came to the end.
    """

    pairs: int
    answered: int
    open: int
    workers: int
    finished: int


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """What a worker answered to one item.

    Attributes:
        worker: Id of the worker.
        item: Number of the item.
        battle: Id of its battle.
        kind: What the item is for.
        system_a: System of answer A.
        system_b: System of answer B.
        position: Place in the worker's session, from 1.
        reversed: Whether B was shown first.
        given_at: When the worker was given it.
        answered_at: When it was answered.
        labels: Name -> label; a is answer A.
        justification: The worker's reason, if it was asked for.
    """

    worker: str
    item: int
    battle: str
    kind: ItemKind
    system_a: str
    system_b: str
    position: int
    reversed: bool
    given_at: datetime
    answered_at: datetime
    labels: dict[str, str]
    justification: str | None


@dataclass(frozen=True, slots=True)
class StoredWorker:
    """A worker of a study.

    Attributes:
        id: Random id.
        study_id: The study.
        participant: Id that a crowd platform gave the worker; None where the link had none.
        cookie: Hash of the secret in the worker's browser.
        language: Language of the questionnaire.
        code: Code that the worker sees at the end.
        begun_at: When the worker agreed to take part.
        finished_at: When the worker came to the end; None before.
    """

    id: str
    study_id: str
    participant: str | None
    cookie: str
    language: str
    code: str
    begun_at: datetime
    finished_at: datetime | None = None
