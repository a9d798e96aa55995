"""The evaluator `language_quality`: how well is each answer written, whatever it says?"""

from itertools import pairwise
from statistics import fmean

from nuggetstream.domain.grade import Criterion
from services.judge.evaluator import Evaluator, Grades
from services.judge.grades.each_answer import EachAnswer
from services.judge.grades.heuristics import line, reply_of
from services.judge.grades.lines import GradesReply
from services.offline.answers import ParsedPrompt
from services.offline.heuristics.text import sentences, terms

_SHORT, _LONG = 4, 35  # words of a sentence that reads easily
_ENDS = (".", "!", "?", ":", "。", "！", "？", "؟", "।")

FLUENCY, COHERENCE, GRAMMAR, READABILITY = CRITERIA = tuple(
    Criterion(name, "1-5", 1, 5) for name in ("fluency", "coherence", "grammar", "readability")
)

_SYSTEM = (
    "You grade the language of a text in the language in which it is written. Whether it is true, complete "
    "or useful does not matter."
)

_INSTRUCTIONS = (
    "Grade the answer on each criterion from 1 (very poor) to 5 (excellent):\n"
    "- fluency: it reads as a careful native speaker would write;\n"
    "- coherence: its sentences and paragraphs follow from each other;\n"
    "- grammar: spelling, inflection and punctuation are correct;\n"
    "- readability: a general reader understands it at the first reading.\n"
    "Give exactly one grade for each of fluency, coherence, grammar and readability."
)

ASKED = EachAnswer(
    task="language_quality",
    version="language-quality-1",
    system=_SYSTEM,
    instructions=_INSTRUCTIONS,
    criteria=CRITERIA,
    alone=True,
)


def offline(prompt: ParsedPrompt) -> GradesReply:
    """The offline model's grades: lengths of sentences, repeated words, capitals and full stops."""
    stated = sentences(prompt.the("answer").text)
    lengths = [len(sentence.split()) for sentence in stated]
    if not stated:
        return reply_of(*(line(criterion, 0.0, "no sentence") for criterion in CRITERIA))
    flowing = fmean(_SHORT <= length <= _LONG for length in lengths)
    linked = [not set(terms(a)).isdisjoint(terms(b)) for a, b in pairwise(stated)]
    linkage = fmean(linked) if linked else 1.0
    complete = fmean(s.endswith(_ENDS) and not s[0].islower() for s in stated)
    mean = fmean(lengths)
    easy = max(0.0, min(1.0, 1 - (mean - 15) / 30))
    return reply_of(
        line(FLUENCY, flowing, f"{flowing:.0%} of its sentences have {_SHORT} to {_LONG} words"),
        line(COHERENCE, linkage, f"{linkage:.0%} of its sentences share a word with the one before"),
        line(GRAMMAR, complete, f"{complete:.0%} of its sentences begin and end as sentences do"),
        line(READABILITY, easy, f"{mean:.0f} words per sentence"),
    )


EVALUATOR = Evaluator(
    name="language_quality",
    summary="Fluency, coherence, grammar and readability of each answer.",
    source="text quality on five points, as in SummEval (Fabbri et al., 2021)",
    calls="2, one per answer",
    yields=Grades(
        criteria=CRITERIA,
        grade=ASKED.grade,
    ),
    offline={ASKED.task: offline},
)
