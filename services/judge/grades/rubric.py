"""The evaluator `rubric`: how many exam questions about the query does each answer answer, and how well?

    query            ->  exam questions (or key facts): a bank that battles with the same query share
    answer, chunk    ->  a grade per question, 0-5, and what the text says in answer to it
    coverage         =   share of the questions with a grade of at least 4

With `verify` the model is also asked whether what it found really answers the question. That grade stands
beside the others; the coverage does not depend on it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pydantic import Field

from nuggetstream.domain.battle import Side
from nuggetstream.domain.grade import Criterion, Grade, Subject, SubjectKind
from nuggetstream.domain.question_bank import BankKind, BankQuestion
from nuggetstream.rubric.verification import HIGH_GRADE
from services.judge.evaluator import Ask, Evaluator, Grades, Material
from services.judge.grades.bank import BankPrompt, QuestionsReply
from services.judge.grades.choices import DECISION, Choosing, Level, choose, offline_decisions
from services.judge.grades.lines import GradeLine, GradesReply, on_scales
from services.judge.grades.rubric_offline import bank_of, grades_of, stated_shares, verified_of
from services.judge.options import GradeOptions
from services.runtime.llm.blocks import Block
from services.runtime.llm.prompt import Prompt

VERSION, BANK_VERSION = "rubric-1", "rubric-bank-1"
TASK, QUESTIONS, NUGGETS, VERIFY = "rubric", "rubric_questions", "rubric_nuggets", "rubric_verify"
ANSWERED = Criterion("answered", "0-5", 0, 5)
VERIFIED = Criterion("verified", "0 no, 1 yes", 0, 1)
COVERAGE = Criterion("coverage", "0-1", 0, 1)
LEVELS = (
    Level(1, "yes", "the text states this, and it answers the question or states the fact"),
    Level(0, "no", "the text does not state this, or it leaves the question open"),
)


class RubricOptions(GradeOptions):
    """The battles that are graded, their budget, the panel, and the rubric.

    Attributes:
        items: Whether texts are graded on exam questions or on key facts ("nuggets").
        number: Number of questions or key facts per query.
        passages: Whether retrieved chunks are graded, too.
        verify: Whether the model is asked if what it found answers the question.
        per_question: Whether every question is asked in a call of its own.
    """

    items: BankKind = BankKind.QUESTIONS
    number: int = Field(10, ge=2, le=30)
    passages: bool = False
    verify: bool = False
    per_question: bool = False


_BANK_SYSTEM = (
    "You write the answer key for an exam. The exam shows how much of what a person wants to know a text "
    "tells them."
)
_QUESTIONS = (
    "Below is a query. Write {limit} different questions that a good response to it must answer. Each asks "
    "for one thing, has an answer of one or two sentences, does not give that answer away, and can be "
    "understood without the query. Write them in the language of the query, the most important first."
)
_NUGGETS = (
    "Below is a query. Write {limit} different key facts that a good response to it must state. Each names "
    "one thing in at most 15 words, and can be understood without the query. Write them in the language of "
    "the query, the most important first."
)
_SYSTEM = (
    "You grade how well a text answers the questions of an exam. What counts is what the text states, not "
    "what you know."
)
_INSTRUCTIONS = (
    "Grade how well the text, which comes last, answers every question, or states every key fact:\n"
    "- 5, completely and precisely; 4, well, with small gaps; 3, in part; 2, hardly; 1, it is only about the "
    "same subject; 0, not at all.\n"
    "Give exactly one grade for each ID."
)
_VERIFY = (
    "Below are a text, questions or key facts, and findings: what the text is said to state in answer to "
    "each of them, with the same number."
)
_VERIFY_LINES = (
    f"{_VERIFY} Grade each finding with 1 if the text states it and it answers the question or states the "
    "key fact, else with 0. Give exactly one grade for each ID of a finding."
)


class FoundReply(GradesReply):
    """A grade for every question, with what the text states in answer to it."""

    form = (
        "Write each grade as one line: the ID, the grade, a colon, and in at most 20 words what the text "
        "states in answer; for grade 0 nothing after the grade; for example: q3 4: In 1889, for a fair."
    )


@dataclass(frozen=True, slots=True)
class Rubric:
    """The questions of a battle with the ids that they have in prompts.

    Attributes:
        query: The user's question.
        questions: The questions, or key facts, by their ids in prompts.
        kind: Kind of their blocks.
    """

    query: str
    questions: Mapping[str, BankQuestion]
    kind: str

    def blocks(self, names: Sequence[str]) -> list[Block]:
        """The blocks of some of the questions."""
        return [Block(self.kind, name, self.questions[name].text) for name in names]


def bank_prompt(material: Material) -> BankPrompt | None:
    """Asks for the questions about a query; None where there is nothing to grade."""
    options = material.own(RubricOptions)
    if not _texts(material, options):
        return None
    facts, query = options.items is BankKind.NUGGETS, material.battle.query
    prompt = Prompt(
        task=NUGGETS if facts else QUESTIONS,
        version=BANK_VERSION,
        system=_BANK_SYSTEM,
        instructions=_NUGGETS if facts else _QUESTIONS,
        blocks=(Block("query", "q", query),),
        reply=QuestionsReply,
        max_tokens=100 + 60 * options.number,
        parameters=(("limit", options.number),),
        check=lambda reply: reply.check(options.number),
    )
    return BankPrompt(options.items, prompt)


def prompt(rubric: Rubric, names: Sequence[str], text: Block, texts: Sequence[str]) -> Prompt[FoundReply]:
    """Asks how well one text answers questions.

    Args:
        rubric: The questions.
        names: Ids of the questions that are asked.
        text: The text.
        texts: All texts that are graded, whose prompts begin alike.
    """
    questions = rubric.blocks(names)
    return Prompt(
        task=TASK,
        version=VERSION,
        system=_SYSTEM,
        instructions=_INSTRUCTIONS,
        blocks=(Block("query", "q", rubric.query), *questions, text),
        reply=FoundReply,
        max_tokens=100 + 80 * len(questions),
        check=on_scales(dict.fromkeys(names, ANSWERED)),
        family=(rubric.query, *(block.text for block in questions), *sorted(texts)),
    )


def verify_prompt(rubric: Rubric, statements: Mapping[str, str], text: Block) -> Prompt[GradesReply]:
    """Asks whether what was found in a text answers the questions; `found` is by id of the question."""
    findings = [Block("finding", _finding(name), what) for name, what in statements.items()]
    return Prompt(
        task=VERIFY,
        version=VERSION,
        system=_SYSTEM,
        instructions=_VERIFY_LINES,
        blocks=(text, *rubric.blocks(list(statements)), *findings),
        reply=GradesReply,
        max_tokens=100 + 40 * len(findings),
        check=on_scales({block.id: VERIFIED for block in findings}),
    )


async def grade(ask: Ask, material: Material) -> Sequence[Grade]:
    """The grades of both answers, and of chunks where that is configured; an empty answer has none."""
    options, bank = material.own(RubricOptions), material.bank
    if bank is None:
        return []
    letter, kind = ("n", "nugget") if bank.kind is BankKind.NUGGETS else ("q", "question")
    questions = {f"{letter}{number}": question for number, question in enumerate(bank.questions, start=1)}
    rubric = Rubric(material.battle.query, questions, kind)
    texts = _texts(material, options)
    wanted = [block.text for block in texts.values()]
    grades = list[Grade]()
    for subject, text in texts.items():
        lines = await _lines(ask, rubric, options, text, wanted)
        grades += [line.grade(_about(subject, rubric, name), ANSWERED.name) for name, line in lines.items()]
        if options.verify:
            grades += await _verified(ask, rubric, subject, text, lines)
    order = {question.id: number for number, question in enumerate(bank.questions)}
    return sorted(grades, key=lambda grade: order[grade.subject.item or ""])


def computed(material: Material, grades: Sequence[Grade]) -> list[Grade]:  # noqa: ARG001 - as all evaluators
    """The coverage of each text: the share of the graded questions that it answers well."""
    values: dict[Subject, list[float]] = {}
    for grade in grades:
        if grade.criterion == ANSWERED.name and grade.value is not None:
            values.setdefault(replace(grade.subject, item=None), []).append(grade.value)
    return [_coverage(subject, of_text) for subject, of_text in values.items()]


async def _lines(
    ask: Ask, rubric: Rubric, options: RubricOptions, text: Block, texts: Sequence[str]
) -> dict[str, GradeLine]:
    """The grade of each question for one text, in the order of the rubric."""
    names = list(rubric.questions)
    parts = [[name] for name in names] if options.per_question else [names]
    graded = dict[str, GradeLine]()
    for part in parts:
        graded |= (await ask(prompt(rubric, part, text, texts))).by_name()
    return {name: graded[name] for name in names}


async def _verified(
    ask: Ask, rubric: Rubric, subject: Subject, text: Block, lines: Mapping[str, GradeLine]
) -> list[Grade]:
    """Whether what was found answers the questions; nothing where nothing was found."""
    by_finding = {_finding(name): name for name, line in lines.items() if line.value and line.reason}
    if not by_finding:
        return []

    def asked(ids: Sequence[str]) -> Prompt[GradesReply]:
        return verify_prompt(
            rubric, {by_finding[finding]: lines[by_finding[finding]].reason or "" for finding in ids}, text
        )

    def question(name: str) -> str:
        return f"Does the text state {name}, and does it answer {by_finding[name]}?"

    chosen = await choose(ask, list(by_finding), Choosing(LEVELS, _VERIFY, question, asked))
    words = {level.value: level.name for level in LEVELS}
    return [
        value.grade(_about(subject, rubric, by_finding[name]), VERIFIED.name, words[value.value])
        for name, value in chosen.items()
    ]


def _coverage(subject: Subject, values: Sequence[float]) -> Grade:
    good = sum(value >= HIGH_GRADE for value in values)
    summary = f"{good} of {len(values)} have a grade of at least {HIGH_GRADE}"
    return Grade(subject=subject, criterion=COVERAGE.name, value=good / len(values), reason=summary)


def _texts(material: Material, options: RubricOptions) -> dict[Subject, Block]:
    """What is graded: the answers that are not empty, and the chunks where that is configured."""
    sides = [side for side in Side if material.battle.answer(side).text.strip()]
    texts = {Subject.answer(side): Block("answer", "a", material.battle.answer(side).text) for side in sides}
    for chunk in material.evidence if options.passages else ():
        subject = Subject(SubjectKind.DOCUMENT, chunk.cited_by, chunk.chunk_id)
        texts[subject] = Block("chunk", "c1", chunk.text)
    return texts


def _about(subject: Subject, rubric: Rubric, name: str) -> Subject:
    return replace(subject, item=rubric.questions[name].id)


def _finding(name: str) -> str:
    return f"f{name[1:]}"


EVALUATOR = Evaluator(
    name="rubric",
    summary="Grades of each answer on exam questions about the query, and the share that it answers well.",
    source="RUBRIC and EXAM++ of the Rubric-Grading Workbench (Farzi and Dietz, 2024)",
    calls="2, one per answer, and 1 for the questions of a query",
    yields=Grades(
        criteria=(ANSWERED, VERIFIED, COVERAGE),
        grade=grade,
        computed=computed,
        better=(COVERAGE.name,),
        bank=bank_prompt,
    ),
    options=RubricOptions,
    offline={
        QUESTIONS: partial(bank_of, BankKind.QUESTIONS),
        NUGGETS: partial(bank_of, BankKind.NUGGETS),
        TASK: grades_of,
        VERIFY: verified_of,
        VERIFY + DECISION: offline_decisions(LEVELS, "finding", stated_shares),
    },
)
