"""How the offline model writes a rubric and grades texts by it: heuristics, without any understanding.

Its questions ask for what a text can be searched for by its words alone: a reason, a number, a time, an
example. A text answers one if a sentence has a mark of such a thing. The marks are words of English, and
numbers.
"""

import re

from nuggetstream.domain.question_bank import BankKind
from services.judge.grades.bank import QuestionsReply
from services.judge.grades.lines import GradeLine, GradesReply
from services.offline.answers import ParsedPrompt
from services.offline.heuristics import Label, assign
from services.offline.heuristics.text import sentences
from services.runtime.llm.blocks import Block

_ANSWER = "Answer"
_MARKS = {
    "Reason": re.compile(r"\b(because|since|due to|causes?d?|therefore|reasons?)\b", re.I),
    "Number": re.compile(r"\d"),
    "Time": re.compile(r"\b(1[5-9]|20)\d\d\b|\b(year|century|today|hours?|days?)\b", re.I),
    "Example": re.compile(r"\b(for example|for instance|such as|e\.g\.|including)\b", re.I),
    "Comparison": re.compile(r"\b(than|whereas|unlike|compared|more|less|but|however)\b", re.I),
}
_ASKED = {
    _ANSWER: "What is the answer in one sentence",
    "Reason": "Which reason is given",
    "Number": "Which number is given",
    "Time": "Which time is given",
    "Example": "Which example is given",
    "Comparison": "Which comparison is made",
}
_LONGEST = 200  # characters of a query that a question repeats, and of a finding
_OF_CLOSEST = {Label.SUPPORT: 5, Label.PARTIAL: 3, Label.NONE: 0}
_OF_MARKED = {Label.SUPPORT: 5, Label.PARTIAL: 4, Label.NONE: 2}


def bank_of(kind: BankKind, prompt: ParsedPrompt) -> QuestionsReply:
    """The questions of the offline model about a query, or its key facts."""
    about = " ".join(prompt.query.split())[:_LONGEST]
    leads = _ASKED if kind is BankKind.NUGGETS else _ASKED.values()
    return QuestionsReply(questions=[f"{lead}: {about}" for lead in leads][: prompt.limit])


def grades_of(prompt: ParsedPrompt) -> GradesReply:
    """The grades of a text, each with the sentence that it follows from."""
    lines = []
    for block in (*prompt.of("question"), *prompt.of("nugget")):
        value, finding = _answered(block.text, prompt)
        lines.append(GradeLine(name=block.id, value=value, reason=finding))
    return GradesReply(grades=lines)


def verified_of(prompt: ParsedPrompt) -> GradesReply:
    """Whether the text has the words of each finding."""
    return GradesReply(
        grades=[
            GradeLine(name=block.id, value=float(stated_shares(prompt, block)[0] >= 0.5), reason="words")
            for block in prompt.of("finding")
        ]
    )


def stated_shares(prompt: ParsedPrompt, finding: Block) -> tuple[float, float]:
    """How probable it is that the text states a finding, and that it does not."""
    (label,) = assign("", [finding.text], _text_in(prompt), embed=prompt.embed)
    full, part, none = label.probabilities
    return full + part / 2, none + part / 2


def _answered(question: str, prompt: ParsedPrompt) -> tuple[int, str | None]:
    lead, query, text = question.partition(":")[0], prompt.query, _text_in(prompt)
    name = next((name for name, words in _ASKED.items() if lead in (name, words)), None)
    if name in _MARKS:
        marked = [sentence for sentence in sentences(text) if _MARKS[name].search(sentence)]
        if not marked:
            return 0, None
        (label,) = assign("", [query], "\n".join(marked), embed=prompt.embed)
        return _OF_MARKED[label.label], marked[0][:_LONGEST]
    (label,) = assign("", [query if name == _ANSWER else question], text, embed=prompt.embed)
    return _OF_CLOSEST[label.label], label.quote[:_LONGEST] or None


def _text_in(prompt: ParsedPrompt) -> str:
    return (prompt.of("answer") or [prompt.the("chunk")])[0].text
