"""Which questions were asked together, so that only what an edit of a bank touches is asked again.

    questions of a bank  ──asked together before, and the reply is kept──>  read again
                          └─the rest─────────────────────────────────────>  asked together

A model grades a text on several questions in one reply, so a reply is found again only by all the questions
that were asked for it. The file lists them per query, and the replies themselves are in the reply cache.
"""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from nuggetstream.domain.grade import Grading
from nuggetstream.domain.question_bank import BankQuestion, QuestionBank, question_id
from nuggetstream.files.text import text_lines
from services.runtime.llm.client import LLMClient
from services.runtime.llm.model import Reply, joined
from services.runtime.llm.prompt import Prompt, R

FILE = "asked.jsonl"
IsKept = Callable[[QuestionBank], Awaitable[bool]]
"""Whether the replies about one text on all questions of a bank are kept."""


class NotKept(Exception):
    """A reply is not kept, so a call would be needed."""


@dataclass(frozen=True, slots=True)
class KeptReplies:
    """A chat model that answers from its kept replies alone."""

    model: LLMClient

    @property
    def name(self) -> str:
        """Name of the model."""
        return self.model.name

    async def ask(self, prompt: Prompt[R], *, stage: str, battle_id: str) -> Reply[R]:  # noqa: ARG002
        """The kept reply.

        Raises:
            NotKept: There is none.
        """
        if (reply := await self.model.kept(prompt, battle_id=battle_id)) is None:
            raise NotKept
        return reply


@dataclass(slots=True)
class AskedTogether:
    """The questions of each query that were asked together.

    Attributes:
        file: Where they are listed; None keeps them in memory.
        groups: Query id -> texts of questions that were asked together, the earliest first.
    """

    file: Path | None = None
    groups: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)

    @classmethod
    def read(cls, file: Path) -> "AskedTogether":
        """Those that a file lists; none where there is no such file.

        Raises:
            UnusableFile: The file cannot be read.
        """
        asked = cls(file)
        for _, line in text_lines(file) if file.exists() else ():
            record = json.loads(line)
            asked.groups.setdefault(record["query"], []).append(tuple(record["questions"]))
        return asked

    def add(self, query: str, questions: Sequence[BankQuestion]) -> None:
        """Note that questions are asked together."""
        texts, groups = tuple(question.text for question in questions), self.groups.setdefault(query, [])
        if texts in groups:
            return
        groups.append(texts)
        if self.file is not None:
            row = json.dumps({"query": query, "questions": texts}, ensure_ascii=False)
            with self.file.open("a", encoding="utf-8") as lines:
                lines.write(row + "\n")

    async def parts(
        self, bank: QuestionBank, is_kept: IsKept
    ) -> tuple[list[QuestionBank], QuestionBank | None]:
        """How the questions of a bank get their grades for one text.

        Args:
            bank: The questions.
            is_kept: Whether a reply on the questions of a part is kept.

        Returns:
            Parts whose replies are kept, which may have further questions, and the part that is to be asked;
            None where nothing is.
        """
        if await is_kept(bank):
            return [bank], None
        wanted = {question.text: question for question in bank.questions}
        if len(wanted) < len(bank.questions):  # a text with two ids cannot be found by its text
            return [], bank
        missing, kept = dict(wanted), list[QuestionBank]()
        for texts in self.groups.get(bank.query_id, ()):
            if missing.keys().isdisjoint(texts):
                continue
            asked = (
                wanted.get(text) or BankQuestion(question_id(bank.query_id, text), text) for text in texts
            )
            part = replace(bank, questions=tuple(asked))
            if await is_kept(part):
                kept.append(part)
                missing = {text: each for text, each in missing.items() if text not in texts}
        return kept, replace(bank, questions=tuple(missing.values())) if missing else None


def together(gradings: Sequence[Grading], bank: QuestionBank) -> Grading:
    """The grades on the questions of a bank, from gradings that may have graded others beside.

    Args:
        gradings: At least one. Of a question that several graded, the first one counts.
        bank: The questions.
    """
    if len(gradings) == 1 and gradings[0].bank == bank:
        return gradings[0]
    order = {question.id: number for number, question in enumerate(bank.questions)}
    grades, seen = [], set[tuple[str, str]]()
    for grading in gradings:
        own = [grade for grade in grading.grades if grade.subject.item in order]
        new = [grade for grade in own if (grade.subject.item or "", grade.criterion) not in seen]
        seen |= {(grade.subject.item or "", grade.criterion) for grade in new}
        grades += new
    return replace(
        gradings[0],
        model=joined(grading.model for grading in gradings),
        prompt_version="+".join(dict.fromkeys(grading.prompt_version for grading in gradings)),
        grades=tuple(sorted(grades, key=lambda grade: order[grade.subject.item or ""])),
        bank=bank,
    )
