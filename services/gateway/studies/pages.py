"""The questionnaire of a study, which works without a script.

GET  /studies/{id}           ->  the consent, the item before a worker, or the end with the completion code
POST /studies/{id}/begin     ->  a worker, and a cookie that only this study's pages are sent
POST /studies/{id}/answer    ->  an answer; while the database is away, a page that sends it again
POST /studies/{id}/withdraw  ->  the worker and its answers deleted
"""

import hmac
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from jinja2 import Environment

from nuggetstream.crowd.wording import DIMENSION, chosen_language, wording
from services.access.callers import NotAllowed
from services.access.keys import hash_of
from services.gateway.access.guard import Access
from services.gateway.battles.bodies import read_form
from services.gateway.errors import InvalidQuery
from services.gateway.pages.markdown import rendered
from services.gateway.pages.quotes import Piece
from services.gateway.problems import headers_of, status_of
from services.gateway.studies.questionnaire import Questionnaire, session_of
from services.runtime.errors import Unavailable
from services.store.studies.study_rows import StoredStudy, StoredWorker
from services.store.studies.study_tasks import Answered, Begun, Task

COOKIE = "nuggetstream_worker"
_MAX_BYTES = 64 * 1024
_WEEKS = 8 * 7 * 24 * 3600  # seconds that a browser keeps the cookie
_PARTICIPANT = re.compile(r"[A-Za-z0-9._-]{1,100}")
_NOTICES = frozenset({"late", "twice", "withdrawn", "full", "begun", "closed"})
_OUTDATED = "the form is outdated: load the page again"
_HEADERS = {"Cache-Control": "no-store", "X-Robots-Tag": "noindex"}


def routes(questionnaire: Questionnaire, access: Access, env: Environment) -> APIRouter:
    """The routes of the questionnaire."""
    pages = _Pages(questionnaire, access, env)
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/studies/{study_id}")
    async def show(study_id: str, request: Request) -> Response:
        return await pages.show(await questionnaire.study(study_id), request)

    @router.post("/studies/{study_id}/begin")
    async def begin(study_id: str, request: Request) -> Response:
        return await pages.begin(await questionnaire.study(study_id), request)

    @router.post("/studies/{study_id}/answer")
    async def answer(study_id: str, request: Request) -> Response:
        return await pages.answer(study_id, request)

    @router.post("/studies/{study_id}/withdraw")
    async def withdraw(study_id: str, request: Request) -> Response:
        return await pages.withdraw(await questionnaire.study(study_id), request)

    return router


@dataclass(frozen=True, slots=True)
class _Pages:
    questionnaire: Questionnaire
    access: Access
    env: Environment

    async def show(self, study: StoredStudy, request: Request) -> Response:
        """The page that a worker sees now."""
        cookie, notice = request.cookies.get(COOKIE), request.query_params.get("notice")
        worker = await self.questionnaire.worker(study, cookie)
        language = worker.language if worker is not None else _language(study, request)
        values: dict[str, Any] = {"notice": notice if notice in _NOTICES else None}
        if worker is None or cookie is None:
            participant = request.query_params.get("participant", "")
            if participant and not _PARTICIPANT.fullmatch(participant):
                raise InvalidQuery(["participant: has other characters than letters, digits, . _ and -"])
            kind = "end" if study.closed_at is not None else "consent"
            if kind == "end":
                values["notice"] = "closed"
            return self._page(study, language, kind, participant=participant, **values)
        values["csrf"] = _csrf(cookie)
        task = await self.questionnaire.task(study, worker)
        if task is None:
            worker = await self.questionnaire.worker(study, cookie) or worker  # it may have finished
            code = worker.code if worker.finished_at is not None else None
            return self._page(study, language, "end", code=code, **values)
        return await self._item(study, worker, task, language, values)

    async def _item(
        self, study: StoredStudy, worker: StoredWorker, task: Task, language: str, values: dict[str, Any]
    ) -> Response:
        battle = await self.questionnaire.battle(task.battle)
        shown = (battle.b, battle.a) if task.reversed else (battle.a, battle.b)
        return self._page(
            study,
            language,
            "item",
            task=task,
            length=session_of(study, []).length,
            query=battle.query,
            spoken=battle.language,
            answers=[rendered((Piece(answer.text),), side) for answer, side in zip(shown, "ab", strict=True)],
            feedback=await self.questionnaire.feedback(study, worker),
            grades=[str(grade) for grade in range(1, study.submission.grades + 1)],
            **values,
        )

    async def begin(self, study: StoredStudy, request: Request) -> Response:
        """Store that somebody agreed to take part."""
        self.access.rates.take_participant(self.access.proxies.client_of(request.scope))
        fields = await read_form(request, _MAX_BYTES)
        language, participant = fields.get("lang", ""), fields.get("participant") or None
        if fields.get("agree") != "yes" or language not in study.submission.languages:
            raise InvalidQuery(["agree: nobody takes part who has not agreed"])
        if participant is not None and not _PARTICIPANT.fullmatch(participant):
            raise InvalidQuery(["participant: has other characters than letters, digits, . _ and -"])
        if await self.questionnaire.worker(study, request.cookies.get(COOKIE)) is not None:
            return _to(study.id)  # the form was sent twice
        begun, cookie = await self.questionnaire.begin(study, participant, language)
        if begun is not Begun.BEGUN:
            notice = {Begun.CLOSED: "closed", Begun.FULL: "full", Begun.ELSEWHERE: "begun"}[begun]
            return _to(study.id, notice=notice, lang=language)
        response = _to(study.id)
        response.set_cookie(
            COOKIE,
            cookie,
            max_age=_WEEKS,
            path=f"/studies/{study.id}",
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )
        return response

    async def answer(self, study_id: str, request: Request) -> Response:
        """Store an answer. While the database is away, the page that is returned has all of it."""
        fields = await read_form(request, _MAX_BYTES)
        try:
            study, worker = await self._allowed(study_id, request, fields)
            answered = await self.questionnaire.answer(study, worker, fields)
        except Unavailable as error:
            language = chosen_language(fields.get("lang", ""), ["en", "de"])  # the study's own texts are away
            html = self.env.get_template("studies/away.html").render(
                texts=wording({}, language), lang=language, action=request.url.path, fields=fields
            )
            return HTMLResponse(html, status_of(error), _HEADERS | dict(headers_of(error) or {}))
        if answered is Answered.UNKNOWN:
            raise NotAllowed("this item was not given to you: load the page again")
        notice = {Answered.LATE: "late", Answered.TWICE: "twice"}.get(answered)
        return _to(study.id) if notice is None else _to(study.id, notice=notice)

    async def withdraw(self, study: StoredStudy, request: Request) -> Response:
        """Delete a worker with everything that it answered."""
        fields = await read_form(request, _MAX_BYTES)
        _, worker = await self._allowed(study.id, request, fields)
        await self.questionnaire.administration.studies.forget_worker(study.id, worker.id)
        response = _to(study.id, notice="withdrawn", lang=worker.language)
        response.delete_cookie(COOKIE, path=f"/studies/{study.id}", httponly=True, samesite="lax")
        return response

    async def _allowed(
        self, study_id: str, request: Request, fields: Mapping[str, str]
    ) -> tuple[StoredStudy, StoredWorker]:
        """The study and the worker of a form that one of our own pages showed to the worker.

        Raises:
            Unknown, NotAllowed: There is no such study; the cookie or the form is no worker's.
            Unavailable: The database does not answer.
        """
        cookie, study = request.cookies.get(COOKIE), await self.questionnaire.study(study_id)
        sent = fields.get("csrf", "").encode()
        worker = await self.questionnaire.worker(study, cookie)
        if worker is None or cookie is None or not hmac.compare_digest(sent, _csrf(cookie).encode()):
            raise NotAllowed(_OUTDATED)
        return study, worker

    def _page(self, study: StoredStudy, language: str, kind: str, **values: Any) -> Response:
        asked = study.submission
        texts = wording(asked.texts, language)
        html = self.env.get_template("studies/page.html").render(
            {"code": None, "feedback": None} | values,
            kind=kind,
            study=study.id,
            lang=language,
            languages=asked.languages,
            asked=asked,
            texts=texts,
            questions={name: texts.get(DIMENSION + name, name) for name in asked.names},
        )
        return HTMLResponse(html, headers=_HEADERS)


def _language(study: StoredStudy, request: Request) -> str:
    asked, offered = request.query_params.get("lang"), study.submission.languages
    return asked if asked in offered else chosen_language(request.headers.get("accept-language", ""), offered)


def _csrf(cookie: str) -> str:
    return hash_of(f"csrf {cookie}")


def _to(study_id: str, **query: str) -> RedirectResponse:
    return RedirectResponse(f"/studies/{study_id}" + (f"?{urlencode(query)}" if query else ""), 303, _HEADERS)
