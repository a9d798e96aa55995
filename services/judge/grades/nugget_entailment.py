"""The evaluator `nugget_entailment`: does what a nugget was read from state it?

A nugget that no passage entails was made up, or read in an answer alone and then attached to a passage. All
nuggets of a battle that name a stored passage are asked about at once; the others have no grade.
"""

from collections.abc import Mapping, Sequence

from nuggetstream.domain.grade import Criterion, Grade, Subject, SubjectKind
from nuggetstream.domain.nugget import Nugget
from nuggetstream.text.comparison import contradicts
from services.judge.evaluator import Ask, Evaluator, Grades, Material
from services.judge.grades.choices import DECISION, Choosing, Level, choose, offline_decisions
from services.judge.grades.lines import GradeLine, GradesReply, graded, on_scales
from services.offline.answers import ParsedPrompt
from services.offline.heuristics import Label, assign
from services.runtime.llm.blocks import Block
from services.runtime.llm.prompt import Prompt

VERSION = "nugget-entailment-1"
TASK = "nugget_entailment"
_PASSAGES = 3  # per nugget, the first that it names
ENTAILMENT = Criterion("entailment", "-1 contradicted, 0 neutral, 1 entailed", -1, 1)
LEVELS = (
    Level(1, "entailed", "a reader of these passages alone must accept the nugget"),
    Level(0, "neutral", "they leave open whether the nugget holds, in whole or in part"),
    Level(-1, "contradicted", "they say something that cannot be true together with the nugget"),
)

_SYSTEM = (
    "You check whether facts follow from the passages in which they were read. Your own knowledge does not "
    "count, and neither does what is likely."
)
_MATERIAL = "Below are passages of web pages and nuggets, which are facts that were read in them."
_INSTRUCTIONS = (
    f"{_MATERIAL} Grade every nugget by its own passages, which are named below:\n"
    + "\n".join(f"- {level.value:g}, {level.name}: {level.description};" for level in LEVELS)
    + "\nGive exactly one grade for each nugget ID."
)


def prompt(
    nuggets: Mapping[str, str], passages: Mapping[str, str], read: Mapping[str, Sequence[str]]
) -> Prompt[GradesReply]:
    """Asks which nuggets follow from their passages.

    Args:
        nuggets: Text of each nugget, by the id that it has in the prompt.
        passages: Text of each passage, by the id that it has in the prompt.
        read: For each nugget the ids of its passages.
    """
    used = {passage for nugget in nuggets for passage in read[nugget]}
    sources = "; ".join(f"{nugget}: {', '.join(read[nugget])}" for nugget in nuggets)
    return Prompt(
        task=TASK,
        version=VERSION,
        system=_SYSTEM,
        instructions=_INSTRUCTIONS,
        blocks=(
            *(Block("chunk", name, text) for name, text in passages.items() if name in used),
            *(Block("nugget", name, text) for name, text in nuggets.items()),
        ),
        reply=GradesReply,
        max_tokens=100 + 60 * len(nuggets),
        parameters=(("passages", sources),),
        check=on_scales(dict.fromkeys(nuggets, ENTAILMENT)),
        lines=graded(dict.fromkeys(nuggets, ENTAILMENT)),
    )


async def grade(ask: Ask, material: Material) -> Sequence[Grade]:
    """The entailment of every nugget with a stored passage; without one there is nothing to ask."""
    passages = {chunk: f"c{number}" for number, chunk in enumerate(material.passages, start=1)}
    read = {
        f"n{number}": (nugget, [passages[chunk] for chunk in _chunks(nugget, material)])
        for number, nugget in enumerate(material.nuggets, start=1)
    }
    read = {name: (nugget, own) for name, (nugget, own) in read.items() if own}
    if not read:
        return []
    texts = {passages[chunk]: text for chunk, text in material.passages.items()}

    def lines(ids: Sequence[str]) -> Prompt[GradesReply]:
        return prompt(
            {name: read[name][0].text for name in ids}, texts, {name: read[name][1] for name in ids}
        )

    def question(name: str) -> str:
        return f"Do its passages ({', '.join(read[name][1])}) entail nugget {name}?"

    chosen = await choose(ask, list(read), Choosing(LEVELS, _MATERIAL, question, lines))
    words = {level.value: level.name for level in LEVELS}
    return [
        value.grade(Subject(SubjectKind.NUGGET, item=read[name][0].id), ENTAILMENT.name, words[value.value])
        for name, value in chosen.items()
    ]


def _chunks(nugget: Nugget, material: Material) -> list[str]:
    """The stored passages in which a nugget was read."""
    stored = [origin.document for origin in nugget.provenance if origin.document in material.passages]
    return stored[:_PASSAGES]


def offline(prompt: ParsedPrompt) -> GradesReply:
    """The offline model's grades: do passages share the words, and do they give other numbers?"""
    lines = []
    for nugget in prompt.of("nugget"):
        entailed, neutral, contradicted = _shares(prompt, nugget)
        value = 1 if entailed > max(neutral, contradicted) else -1 if contradicted > neutral else 0
        lines.append(GradeLine(name=nugget.id, value=value, reason="words and numbers of the passages"))
    return GradesReply(grades=lines)


def _shares(prompt: ParsedPrompt, nugget: Block) -> tuple[float, float, float]:
    """Entailed, neutral and contradicted: the closest sentence of all passages decides."""
    passages = "\n".join(block.text for block in prompt.of("chunk"))
    (label,) = assign("", [nugget.text], passages, embed=prompt.embed)
    support, partial, missing = label.probabilities
    return (
        (0.0, partial + missing, support)
        if label.label is Label.SUPPORT and contradicts(nugget.text, label.quote)
        else (support, partial + missing, 0.0)
    )


EVALUATOR = Evaluator(
    name="nugget_entailment",
    summary="Whether each nugget follows from the passages that it was read from.",
    source="natural language inference with three labels, as in SNLI (Bowman et al., 2015)",
    calls="1, none without a passage",
    yields=Grades(
        criteria=(ENTAILMENT,),
        grade=grade,
    ),
    reads_passages=True,
    offline={TASK: offline, TASK + DECISION: offline_decisions(LEVELS, "nugget", _shares)},
)
