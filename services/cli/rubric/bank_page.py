"""A page on which a person edits a bank, approves it and oversees its grades.

the fields of all questions  ->  operations for what differs  ->  what changes, with every score
"keep"                       ->  exactly what was shown, written as by `rubric bank edit`

It is served to this machine alone, works without a script, and its address cannot be guessed: a bank may have
questions that are kept secret.
"""

import asyncio
import secrets
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any

import click
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from nuggetstream.files.numerals import many
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.rubric import items_of_line, keys_of, read_bank
from nuggetstream.files.table_writing import html_of
from nuggetstream.files.tables import Table
from nuggetstream.files.templates import html_environment
from nuggetstream.rubric.bank_edit import (
    BankOp,
    BankOperation,
    InvalidBankEdit,
    held_back,
    name_of,
    text_of,
)
from nuggetstream.rubric.bank_file import approve, history, history_file, history_table
from nuggetstream.rubric.check_page import page_of
from nuggetstream.rubric.checking import check
from nuggetstream.rubric.cover import NothingToCover
from nuggetstream.rubric.graded import load_checked
from services.cli.rubric.bank_proposal import BankFiles, ProposedEdit
from services.gateway.battles.bodies import read_form
from services.gateway.hosts import AllowedHosts, HostCheck
from services.runtime.asgi import serving
from services.runtime.errors import StageError

Json = dict[str, Any]

_TEMPLATES = Path(__file__).parent / "templates"
_MAX_BYTES = 16 * 1024 * 1024
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; "
        "frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}
_NOT_MADE = (InvalidBankEdit, UnusableFile, NothingToCover, StageError, OSError, click.ClickException)


class _Outdated(ValueError):
    """The files are no longer those that a page showed."""


async def serve_page(files: BankFiles, port: int, stop: asyncio.Event) -> None:
    """Serve the page until stopped, and print its address.

    Raises:
        CannotListen: The port is in use.
        UnusableFile: The bank cannot be read.
    """
    secret, page = secrets.token_urlsafe(16), BankPage(files, stop)
    page.show({})  # an unusable bank is named before anybody opens the page
    async with serving(app_of(page, f"/{secret}/"), port=port, quiet=True) as url:
        click.echo(f"page {url}/{secret}/   # Ctrl-C ends it")
        await stop.wait()


def app_of(page: "BankPage", base: str) -> Starlette:
    """The page as an application, at a path that begins and ends with a slash."""
    routes = {"": page.overview, "change": page.changes, "oversight": page.oversight}
    forms = {"change": page.change, "keep": page.keep, "approve": page.approve}
    return Starlette(
        routes=[
            *(Route(base + name, handler) for name, handler in routes.items()),
            *(
                Route(base + name, partial(_answered, page, form), methods=["POST"])
                for name, form in forms.items()
            ),
        ],
        middleware=[Middleware(HostCheck, hosts=AllowedHosts())],
    )


async def _answered(page: "BankPage", form: Any, request: Request) -> Response:
    """Do what a form asks for, one at a time; what is wrong stands above what was typed."""
    fields = await read_form(request, _MAX_BYTES)
    try:
        async with page.lock:
            return RedirectResponse(await form(fields), 303, _HEADERS)
    except _Outdated as error:
        return page.show({}, str(error))
    except _NOT_MADE as error:
        return page.show(
            fields, error.format_message() if isinstance(error, click.ClickException) else str(error)
        )


@dataclass(slots=True)
class BankPage:
    """The page of a bank.

    Attributes:
        files: The bank and its graded file.
        stop: Ends a grading when set.
        waiting: The edit that was shown last and is not kept, with who and why.
        lock: Held while a form is answered.
    """

    files: BankFiles
    stop: asyncio.Event
    waiting: "_Waiting | None" = None
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def overview(self, _: Request) -> Response:
        """The questions of the bank in a form, and its history."""
        return self.show({})

    async def changes(self, _: Request) -> Response:
        """What the last edit changes, before it is kept."""
        if self.waiting is None:
            return RedirectResponse("./", 303, _HEADERS)
        return _page("bank_change.html", edit=self.waiting, name=self.files.bank.name)

    async def oversight(self, _: Request) -> Response:
        """Findings about the grades, and questions by passages."""
        if self.files.graded is None:
            return RedirectResponse("./", 303, _HEADERS)
        passages, checks = load_checked(self.files.graded)
        checked = check(passages, bank=read_bank(self.files.bank), checks=checks)
        return HTMLResponse(page_of(checked), headers=_HEADERS)

    def show(self, fields: Mapping[str, str], problem: str | None = None) -> Response:
        """The form, with what somebody typed in place of the bank's own texts."""
        lines, entries = self.files.lines, history(self.files.bank)
        return _page(
            "bank.html",
            422 if problem else 200,
            name=self.files.bank.name,
            version=max((entry.version for entry in entries), default=1),
            queries=list(_queries(lines, self.files.queries)),
            held=len(held_back(lines)),
            history=_html(history_table(self.files.bank)) if entries else None,
            graded=self.files.graded is not None,
            waiting=self.waiting is not None,
            digest=self._digest(),
            fields=fields,
            problem=problem,
        )

    async def change(self, fields: Mapping[str, str]) -> str:
        """Find out what an edit changes; nothing is written."""
        by, reason = self._checked(fields)
        edit = await self.files.propose(
            list(_operations(fields, self.files.lines, self.files.queries)), self.stop
        )
        if edit is not None:
            self.waiting = _Waiting(edit=edit, digest=self._digest(), by=by, reason=reason)
        return "change"

    async def keep(self, fields: Mapping[str, str]) -> str:
        """Keep the edit that was shown."""
        shown = self.waiting
        if shown is None or (fields.get("edit"), self._digest()) != (shown.name, shown.digest):
            raise _Outdated("nothing was kept: bank, grades or edit are others than the page showed")
        shown.edit.keep(shown.by, shown.reason)
        self.waiting = None
        return "./"

    async def approve(self, fields: Mapping[str, str]) -> str:
        """Note that a person approves the bank as the page showed it."""
        by, reason = self._checked(fields)
        if any(_operations(fields, self.files.lines, self.files.queries)):
            raise InvalidBankEdit("approve the bank as it is, or keep your changes first")
        approve(self.files.bank, by=by, reason=reason, at=datetime.now(UTC))
        return "./"

    def _checked(self, fields: Mapping[str, str]) -> tuple[str, str]:
        """Who edits and why, of a form that shows the files as they are.

        Raises:
            InvalidBankEdit, _Outdated: A field is empty, or a file has changed.
        """
        if fields.get("digest") != self._digest():
            raise _Outdated("the bank or its grades changed meanwhile; this is how they are now")
        by, reason = fields.get("by", "").strip(), fields.get("reason", "").strip()
        if not (by and reason):
            raise InvalidBankEdit("your name and a reason are needed; both are kept in the history")
        return by, reason

    def _digest(self) -> str:
        """A hash of the files that an edit changes."""
        digest = sha256()
        for path in filter(None, (self.files.bank, history_file(self.files.bank), self.files.graded)):
            with suppress(FileNotFoundError):
                digest.update(path.read_bytes())
        return digest.hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Waiting:
    edit: ProposedEdit
    digest: str
    by: str
    reason: str
    name: str = field(default_factory=partial(secrets.token_hex, 8))

    @property
    def scores(self) -> Markup | None:
        after = self.edit.after
        return None if after is None else _html(after.scores.table())


def _queries(lines: list[Json], asked: Mapping[str, str]) -> Iterator[Json]:
    """Every query with its text and questions, those that the bank lacks last."""
    for line in lines:
        query = str(line["query_id"])
        items = [
            {
                "id": name_of(item),
                "text": text_of(item),
                "keys": "\n".join(keys_of(item)),
                "held": bool(item.get("held_back")),
            }
            for item in items_of_line(line)
        ]
        yield {"id": query, "text": line.get("query_text") or asked.get(query, ""), "items": items}
    with_lines = {str(line["query_id"]) for line in lines}
    yield from (
        {"id": query, "text": text, "items": []} for query, text in asked.items() if query not in with_lines
    )


def _operations(
    fields: Mapping[str, str], lines: list[Json], asked: Mapping[str, str]
) -> Iterator[BankOperation]:
    """What a form asks for: `text`, `keys`, `held` and `remove` with a question, `new` with a query."""
    for query in _queries(lines, asked):
        for item in query["items"]:
            yield from _of_item(fields, item)
        new = (text for text in fields.get(f"new {query['id']}", "").splitlines() if text.strip())
        yield from (BankOperation(BankOp.ADD, query["id"], text) for text in new)


def _of_item(fields: Mapping[str, str], item: Json) -> Iterator[BankOperation]:
    """The new wording comes last, since it gives the question another id."""
    name = item["id"]
    if f"text {name}" not in fields:
        return
    if f"remove {name}" in fields:
        yield BankOperation(BankOp.REMOVE, name)
        return
    if (is_held := f"held {name}" in fields) is not item["held"]:
        yield BankOperation(BankOp.HOLD_BACK if is_held else BankOp.RELEASE, name)
    keys = tuple(filter(None, map(str.strip, fields.get(f"keys {name}", "").splitlines())))
    text = " ".join(fields[f"text {name}"].split())
    if text != " ".join(item["text"].split()):
        yield BankOperation(BankOp.CHANGE, name, text, keys)
    elif keys != tuple(item["keys"].splitlines()):
        yield BankOperation(BankOp.KEYS, name, None, keys)


def _html(table: Table) -> Markup:
    return Markup(html_of(table, None))  # noqa: S704 - each cell is escaped


def _page(template: str, status: int = 200, **values: Any) -> Response:
    html = html_environment(_TEMPLATES).get_template(template).render(many=many, **values)
    return HTMLResponse(html, status, _HEADERS)
