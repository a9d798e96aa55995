"""Studies that ask people, as administrators see them, as JSON."""

from datetime import datetime
from typing import Literal

from nuggetstream.views.common import View


class StudyBoundary(View):
    """Where the best systems end, as the answers stand."""

    last: str
    """The last system among the best."""
    next: str
    """The first system that is not."""
    labels: int | None
    """Direct answers that the two still need to be told apart, at 95% with a power of 0.8; null where the gap
    says nothing yet."""


class CrowdStudyView(View):
    """A study, and how far it is."""

    id: str
    """Nobody can guess it; whoever knows the link can take part."""
    name: str
    arena: str
    link: str
    """Path of the page that workers open, on this gateway."""
    created_at: datetime
    closed_at: datetime | None = None
    pairs: int
    answered: int
    """Answers to pairs, each worker counted."""
    wanted: int
    """Answers when every pair has its workers."""
    open: int
    """Pairs that workers have before them."""
    workers: int
    finished: int
    """Workers who came to the end."""
    best: int
    """Number of best systems that the study is to find."""
    boundary: StudyBoundary | None = None
    """Null before there are two systems."""


class StudyAnswer(View):
    """What one worker answered to one pair."""

    worker: str
    item: int
    """Number of the pair in the study."""
    battle: str
    system_a: str
    system_b: str
    position: int
    """Place in the worker's session, from 1."""
    reversed: bool
    """Whether B was shown first."""
    given_at: datetime
    answered_at: datetime
    labels: dict[str, str]
    """Dimension -> a, n or b, where a is answer A whatever was shown first; of a grade NAME a and NAME b."""
    justification: str | None = None


class StudyWorker(View):
    """A worker of a study."""

    id: str
    participant: str | None = None
    """Id that a crowd platform gave the worker, if the link had one."""
    code: str
    """Code that the worker sees at the end."""
    language: str
    begun_at: datetime
    finished_at: datetime | None = None
    answered: int
    """Pairs that the worker answered."""
    gold: int
    """Known labels of gold items that it was asked for."""
    gold_right: int
    """How many of them it gave."""


class StudyAction(View):
    """What was done to a study or to a worker."""

    id: str
    result: Literal["closed", "removed"]
