"""The agent `command`: somebody's own system as a program that is run once per query.

the query on its input  ->  [program]  ->  an answer on its output: a text, or {answer, sources}
"""

import asyncio
import json
from asyncio.subprocess import PIPE
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nuggetstream.domain.failure import Reason
from nuggetstream.domain.identity import derived_id
from services.cli.tournament.agents import Answered, Asked
from services.cli.tournament.http_agent import sources_of
from services.runtime.errors import Permanent


@dataclass(frozen=True, slots=True)
class CommandAgent:
    """Runs a program.

    Attributes:
        command: Program and arguments.
        folder: Folder that it is run in.
        timeout_s: Seconds that it has for a query.
        at_once: Limits how many are run at once.
    """

    command: tuple[str, ...]
    folder: Path
    timeout_s: float
    at_once: asyncio.Semaphore

    def key_of(self, query: str) -> str:  # noqa: ARG002 - the same for all queries
        """The program with its arguments."""
        return derived_id("command", *self.command)

    async def answer(self, asked: Asked) -> Answered:
        """Run the program; see `Agent.answer`."""
        async with self.at_once:
            text = (await self._run(asked.text)).decode("utf-8", "replace").strip()
        try:
            printed: Any = json.loads(text)
        except ValueError:
            printed = text
        reply = printed if isinstance(printed, dict) else {"answer": text}
        if not isinstance(answer := reply.get("answer"), str) or not answer.strip():
            raise Permanent(Reason.REPLY_UNUSABLE, "the command gave no text and no object with an answer")
        sources = sources_of(reply)
        return Answered(
            text=answer.strip(),
            references=tuple(sources),
            texts={name: own for name, own in sources.items() if own is not None},
            ranking=tuple(sources) or None,
        )

    async def _run(self, query: str) -> bytes:
        try:
            process = await asyncio.create_subprocess_exec(
                *self.command, stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=self.folder
            )
        except OSError as error:
            detail = f"the command cannot be run: {error.strerror}"
            raise Permanent(Reason.INVALID_INPUT, detail) from error
        try:
            async with asyncio.timeout(self.timeout_s):
                output, errors = await process.communicate(query.encode("utf-8"))
        except TimeoutError as error:
            detail = f"the command gave no answer within {self.timeout_s:g} seconds"
            raise Permanent(Reason.REPLY_UNUSABLE, detail) from error
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode:
            last_line = errors.decode("utf-8", "replace").strip().rpartition("\n")[2]
            detail = f"the command ended with exit code {process.returncode}"
            raise Permanent(Reason.REPLY_UNUSABLE, detail, admin_detail=last_line or None)
        return output
