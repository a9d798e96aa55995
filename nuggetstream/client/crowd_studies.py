"""Studies that ask people: what administrators ask of a platform about them."""

from urllib.parse import quote

from nuggetstream.client.calls import Call
from nuggetstream.client.options import params_of
from nuggetstream.client.replies import reader
from nuggetstream.client.requests import request
from nuggetstream.files.crowd_study import CrowdStudySubmission
from nuggetstream.views.crowd_studies import CrowdStudyView, StudyAction, StudyAnswer, StudyWorker

_PATH = "/v1/admin/studies"
MOST_ANSWERS = 1000
"""Answers of one reply."""


class CrowdStudies:
    """Studies that ask people, for administrators."""

    @request
    def add_study(self, study: CrowdStudySubmission) -> Call[CrowdStudyView]:
        """Add a study, whose link workers open from then on.

        Args:
            study: What is asked, such as `read_crowd_study` reads it.

        Raises:
            Invalid: A battle is not in the arena, or a text is missing.
            Forbidden: The key has no right to this.
        """
        return Call(
            method="POST",
            path=_PATH,
            read=reader(CrowdStudyView),
            body=study.model_dump_json(exclude_unset=True).encode(),
            repeatable=False,  # each request adds another one
        )

    @request
    def studies(self, arena: str | None = None) -> Call[list[CrowdStudyView]]:
        """The studies of an arena, or of all that the key administrates, and how far they are."""
        params = params_of({"arena": arena})
        return Call(method="GET", path=_PATH, read=reader(list[CrowdStudyView]), params=params)

    @request
    def study_answers(self, study_id: str, after: str | None = None) -> Call[list[StudyAnswer]]:
        """Answers to the pairs of a study, at most 1000 by worker and number of the pair.

        Args:
            study_id: The study.
            after: Worker and number of the last answer before, with a comma; from the beginning when None.

        Raises:
            NotFound: There is no such study.
        """
        params = params_of({"after": after, "limit": MOST_ANSWERS})
        path = f"{_of(study_id)}/answers"
        return Call(method="GET", path=path, read=reader(list[StudyAnswer]), params=params)

    @request
    def study_workers(self, study_id: str) -> Call[list[StudyWorker]]:
        """The workers of a study in the order in which they began.

        Raises:
            NotFound: There is no such study.
        """
        return Call(method="GET", path=f"{_of(study_id)}/workers", read=reader(list[StudyWorker]))

    @request
    def close_study(self, study_id: str) -> Call[StudyAction]:
        """Give out no more pairs; what workers have before them can be answered.

        Raises:
            NotFound: There is no such study.
        """
        return Call(method="POST", path=f"{_of(study_id)}/close", read=reader(StudyAction))

    @request
    def remove_study(self, study_id: str) -> Call[StudyAction]:
        """Delete a study with its workers and their answers.

        Raises:
            NotFound: There is no such study.
        """
        return Call(method="DELETE", path=_of(study_id), read=reader(StudyAction))

    @request
    def remove_worker(self, study_id: str, worker_id: str) -> Call[StudyAction]:
        """Delete a worker with everything that it answered.

        Raises:
            NotFound: There is no such study, or no such worker.
        """
        path = f"{_of(study_id)}/workers/{quote(worker_id, safe='')}"
        return Call(method="DELETE", path=path, read=reader(StudyAction))


def _of(study_id: str) -> str:
    return f"{_PATH}/{quote(study_id, safe='')}"
