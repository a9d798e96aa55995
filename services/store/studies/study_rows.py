"""What is stored of studies that ask people, as values."""

from dataclasses import dataclass
from datetime import datetime

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
