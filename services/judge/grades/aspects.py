"""The evaluator `aspects`: factuality, amount of information and formality of each answer, and what follows.

The model also grades acceptability as a whole. The W-LLM score is computed from the three aspects with the
published weights, so both can be compared.
"""

from collections.abc import Sequence

from nuggetstream.aspects.weights import PUBLISHED_WEIGHTS, AspectRating, weighted_score
from nuggetstream.domain.battle import Side
from nuggetstream.domain.grade import Criterion, Grade, Subject
from services.judge.evaluator import Evaluator, Grades, Material
from services.judge.grades.each_answer import EachAnswer
from services.judge.grades.heuristics import line, reply_of, stated_share
from services.judge.grades.lines import GradesReply
from services.offline.answers import ParsedPrompt
from services.offline.heuristics.text import sentences

_USUAL_WORDS = (40, 400)  # of an answer that says neither too little nor too much
_CASUAL = ("!", "lol", "gonna", "btw", "hey", "😀", "🙂", "😊")

FACTUALITY = Criterion("factuality", "0-3", 0, 3)
AMOUNT = Criterion("amount", "-1 too little, 0 right, 1 too much", -1, 1)
FORMALITY = Criterion("formality", "-1 too casual, 0 right, 1 too formal", -1, 1)
ACCEPTABILITY = Criterion("acceptability", "0-3", 0, 3)
_GRADED = (FACTUALITY, AMOUNT, FORMALITY, ACCEPTABILITY)
_HIGHEST = sum((PUBLISHED_WEIGHTS.factuality, PUBLISHED_WEIGHTS.amount, PUBLISHED_WEIGHTS.formality))
SCORE = Criterion("w_llm_score", f"0-{_HIGHEST:.3f}", 0, _HIGHEST)

_SYSTEM = (
    "You grade an answer to a query aspect by aspect. Each aspect is graded alone, whatever the others are."
)

_INSTRUCTIONS = (
    "Grade the answer on each aspect:\n"
    "- factuality: 0 mostly wrong, 1 several errors, 2 a minor error, 3 nothing wrong; where there are "
    "passages, compare with them;\n"
    "- amount: of information, -1 too little, 0 right, 1 too much;\n"
    "- formality: -1 too casual for this query, 0 right, 1 too formal;\n"
    "- acceptability: as a whole, 0 not acceptable to 3 fully acceptable.\n"
    "Give exactly one grade for each of factuality, amount, formality and acceptability."
)

ASKED = EachAnswer(
    task="aspects",
    version="aspects-1",
    system=_SYSTEM,
    instructions=_INSTRUCTIONS,
    criteria=_GRADED,
)


def computed(material: Material, grades: Sequence[Grade]) -> list[Grade]:  # noqa: ARG001 - as all evaluators
    """The W-LLM scores of the answers of which the three aspects are known."""
    scores = []
    for side in Side:
        subject = Subject.answer(side)
        values = {grade.criterion: grade.value for grade in grades if grade.subject == subject}
        aspects = [values.get(criterion.name) for criterion in (FACTUALITY, AMOUNT, FORMALITY)]
        graded = [value for value in aspects if value is not None]
        if len(graded) == len(aspects):
            reason = "computed from factuality, amount and formality with the published weights"
            score = weighted_score(AspectRating(*graded))
            scores.append(Grade(subject=subject, criterion=SCORE.name, value=score, reason=reason))
    return scores


def offline(prompt: ParsedPrompt) -> GradesReply:
    """The offline model's grades: sentences found in the passages, number of words, casual words."""
    answer = prompt.the("answer").text
    passages = "\n".join(block.text for block in prompt.of("chunk"))
    stated = stated_share(prompt, sentences(answer), passages) if passages else None
    words, (few, many) = len(answer.split()), _USUAL_WORDS
    casual = any(mark in answer.lower() for mark in _CASUAL)
    share = 0.5 if stated is None else stated
    summary = "no passage to compare it with" if stated is None else f"{stated:.0%} found in the passages"
    return reply_of(
        line(FACTUALITY, share, summary),
        line(AMOUNT, 0.0 if words < few else 1.0 if words > many else 0.5, f"{words} words"),
        line(FORMALITY, 0.0 if casual else 0.5, "casual words or marks" if casual else "no casual words"),
        line(ACCEPTABILITY, share, summary),
    )


EVALUATOR = Evaluator(
    name="aspects",
    summary="Factuality, amount, formality and acceptability of each answer, and the W-LLM score.",
    source="W-LLM (Kamoda et al., 2025)",
    calls="2, one per answer",
    yields=Grades(
        criteria=(*_GRADED, SCORE),
        grade=ASKED.grade,
        computed=computed,
        better=(FACTUALITY.name, ACCEPTABILITY.name),
    ),
    offline={ASKED.task: offline},
)
