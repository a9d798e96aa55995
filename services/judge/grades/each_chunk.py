"""Evaluators that ask about each retrieved chunk: the grades of all of them, in one call.

A grade names the chunk and the answers that cite its page, so that the report can compare what the systems
retrieved.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nuggetstream.domain.grade import Criterion, Grade, Subject, SubjectKind
from services.judge.evaluator import Ask, Material
from services.judge.grades.choices import DECISION, Choosing, Level, choose, offline_decisions
from services.judge.grades.heuristics import closeness_of, line, reply_of, shares_of_query
from services.judge.grades.lines import GradesReply, graded, on_scales
from services.offline.answers import Heuristic, ParsedPrompt
from services.runtime.llm.blocks import Block
from services.runtime.llm.prompt import Prompt


@dataclass(frozen=True, slots=True)
class EachChunk:
    """The question that one evaluator asks about each chunk.

    Attributes:
        task: Name of the task, by which an operator can override its prompt.
        version: Version of the prompt.
        system: What the model is.
        instructions: What it is asked where it writes lines.
        material: What decisions are about; their questions follow.
        question: The question of a decision, with `{name}` for the id of the chunk.
        criterion: The criterion.
        levels: Its scale: two values, or three.
    """

    task: str
    version: str
    system: str
    instructions: str
    material: str
    question: str
    criterion: Criterion
    levels: Sequence[Level]

    def prompt(self, query: str, documents: Mapping[str, str]) -> Prompt[GradesReply]:
        """Asks for the grades of documents.

        Args:
            query: The user's question.
            documents: Texts of the documents by id.
        """
        return Prompt(
            task=self.task,
            version=self.version,
            system=self.system,
            instructions=self.instructions,
            blocks=(
                Block("query", "q", query),
                *(Block("chunk", name, text) for name, text in documents.items()),
            ),
            reply=GradesReply,
            max_tokens=100 + 60 * len(documents),
            check=on_scales(dict.fromkeys(documents, self.criterion)),
            lines=graded(dict.fromkeys(documents, self.criterion)),
        )

    async def grade(self, ask: Ask, material: Material) -> Sequence[Grade]:
        """The grades of the retrieved chunks; without any there is nothing to ask."""
        chunks = {f"c{number}": chunk for number, chunk in enumerate(material.evidence, start=1)}
        if not chunks:
            return []

        def lines(ids: Sequence[str]) -> Prompt[GradesReply]:
            return self.prompt(material.battle.query, {name: chunks[name].text for name in ids})

        def question(name: str) -> str:
            return self.question.format(name=name)

        chosen = await choose(ask, list(chunks), Choosing(self.levels, self.material, question, lines))
        return [
            value.grade(
                Subject(SubjectKind.DOCUMENT, chunks[name].cited_by, chunks[name].chunk_id),
                self.criterion.name,
            )
            for name, value in chosen.items()
        ]

    def offline(self) -> Mapping[str, Heuristic]:
        """How the offline model answers: by how much of the query's meaning or words a sentence has."""
        decisions = offline_decisions(self.levels, "chunk", self._shares)
        return {self.task: self._grades, self.task + DECISION: decisions}

    def _grades(self, prompt: ParsedPrompt) -> GradesReply:
        shares = {block.id: closeness_of(prompt, block.text) for block in prompt.of("chunk")}
        return reply_of(
            *(
                line(self.criterion, share, f"its closest sentence matches the query to {share:.0%}", name)
                for name, share in shares.items()
            )
        )

    def _shares(self, prompt: ParsedPrompt, block: Block) -> Sequence[float]:
        full, part, none = shares_of_query(prompt, block)
        return (full, part, none) if len(self.levels) > 2 else (full + part, none)
