"""The evaluator `query_profile`: what kind of query is it?

Eight properties are graded from 0 to 10. The query is of the class with the highest grade, if that is at
least 7; classes with equal grades share it. Its language is the declared one, or else a detected one.
"""

import re
from collections.abc import Mapping, Sequence

from nuggetstream.domain.grade import Criterion, Grade, Subject, SubjectKind
from services.judge.evaluator import Ask, Evaluator, Grades, Material
from services.judge.grades.lines import GradeLine, GradesReply, of_criteria
from services.offline.answers import ParsedPrompt
from services.runtime.llm.blocks import Block
from services.runtime.llm.prompt import Prompt

VERSION = "query-profile-1"
TASK = "query_profile"
THRESHOLD = 7
_WHAT = {
    "ambiguous": "it can be understood in several ways",
    "incomplete": "it lacks what is needed to answer it",
    "assumptive": "it takes something for granted that may be wrong",
    "multi_faceted": "a good answer covers several aspects or views",
    "knowledge_intensive": "answering it takes facts that must be looked up",
    "subjective": "the answer depends on taste or opinion",
    "reasoning_intensive": "answering it takes several steps of reasoning",
    "harmful": "an answer could do harm",
}
PROPERTIES = tuple(Criterion(name, "0-10", 0, 10) for name in _WHAT)
CLASS = Criterion("class", "one of the eight properties")
LANGUAGE = Criterion("language", "a language tag")
_QUERY = Subject(SubjectKind.QUERY)

_SYSTEM = "You describe queries that people send to a search engine or an assistant. You never answer them."

_INSTRUCTIONS = (
    "Grade the query on each property from 0 (not at all) to 10 (entirely):\n"
    + "\n".join(f"- {name}: {what};" for name, what in _WHAT.items())
    + "\nGive exactly one grade for each of these eight properties."
)


def prompt(query: str) -> Prompt[GradesReply]:
    """Asks for the properties of a query."""
    return Prompt(
        task=TASK,
        version=VERSION,
        system=_SYSTEM,
        instructions=_INSTRUCTIONS,
        blocks=(Block("query", "q", query),),
        reply=GradesReply,
        max_tokens=600,
        check=of_criteria(PROPERTIES),
    )


def classes_of(values: Mapping[str, float]) -> list[str]:
    """The classes of a query: the properties with the highest value, if that reaches the threshold.

    >>> classes_of({"ambiguous": 8, "subjective": 8, "harmful": 0}), classes_of({"ambiguous": 6})
    (['ambiguous', 'subjective'], [])
    """
    highest = max(values.values())
    return [name for name, value in values.items() if value == highest >= THRESHOLD]


async def grade(ask: Ask, material: Material) -> Sequence[Grade]:
    """The properties of the query."""
    lines = (await ask(prompt(material.battle.query))).by_name()
    return [lines[name].grade(_QUERY) for name in _WHAT]


def computed(material: Material, grades: Sequence[Grade]) -> list[Grade]:
    """The class of the query, where all properties are known and it has one, and its language."""
    values = {grade.criterion: grade.value for grade in grades if grade.value is not None}
    classes = classes_of(values) if len(values) == len(_WHAT) else []
    of_class = [Grade(subject=_QUERY, criterion=CLASS.name, label=", ".join(classes))] if classes else []
    return [*of_class, *_language(material)]


def _language(material: Material) -> list[Grade]:
    """The language of the query, declared or detected; none where it is not known."""
    declared, detected = material.battle.language, material.detected
    if declared is not None:
        origin = "declared with the battle"
        return [Grade(subject=_QUERY, criterion=LANGUAGE.name, label=declared, reason=origin)]
    if detected is None:
        return []
    return [
        Grade(
            subject=_QUERY,
            criterion=LANGUAGE.name,
            label=detected.tag,
            reason="detected in the query, without the model",
            confidence=detected.confidence,
        )
    ]


# Words of English queries; in other languages only the length and the question marks count.
_WORDS = {
    "subjective": re.compile(r"\b(best|should|favou?rite|recommend|opinion|better|worth|beautiful)\b", re.I),
    "reasoning_intensive": re.compile(r"\b(why|how|compare|explain|prove|calculate|difference)\b", re.I),
    "knowledge_intensive": re.compile(r"\b(who|when|where|which|what|history|latest|statistics)\b", re.I),
    "multi_faceted": re.compile(r"\b(and|versus|vs|impact|effects?|pros|cons|advantages|causes)\b", re.I),
    "harmful": re.compile(r"\b(bomb|weapon|poison|malware|suicide)\b", re.I),
    "assumptive": re.compile(r"\b(since|given that|still|even though|really)\b", re.I),
}
_FEW_WORDS = 3


def offline(prompt: ParsedPrompt) -> GradesReply:
    """The offline model's grades: words of English that often go with a property, and the length."""
    query = prompt.query
    short = len(query.split()) <= _FEW_WORDS
    values = {name: min(10, 7 * len(words.findall(query))) for name, words in _WORDS.items()}
    values |= {"ambiguous": 8 if short else 2, "incomplete": 6 if short else 1}
    return GradesReply(
        grades=[
            GradeLine(name=name, value=values[name], reason="words and length of the query") for name in _WHAT
        ]
    )


EVALUATOR = Evaluator(
    name="query_profile",
    summary="Eight properties of the query, its class and its language.",
    source="Researchy Questions (Rosset et al., 2024), as used by Search Arena Meets Nuggets",
    calls="1",
    yields=Grades(
        criteria=(*PROPERTIES, CLASS, LANGUAGE),
        grade=grade,
        computed=computed,
    ),
    reads_language=True,
    offline={TASK: offline},
)
