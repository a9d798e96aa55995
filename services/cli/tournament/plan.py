"""The plan of a tournament: a TOML file that names documents, queries, agents and pairs.

    documents = "pages"            # a folder of documents, or a JSONL file of {docid, text}
    queries = "queries.jsonl"      # {"id": "q1", "query": "..."} per line, or a query id, a tab and the query
    qrels = "qrels.txt"            # relevance labels, if there are any

    [agents.words]
    kind = "rag"
    search = "words"

Paths are relative to the folder of the plan.
"""

import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import Field, HttpUrl, ValidationError, model_validator

from nuggetstream.files.fields import Name, Strict
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.text import read_text

Search = Literal["words", "vectors", "hybrid"]
M = TypeVar("M", bound=Strict)
AgentName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]{0,59}$")]
_AT_LINE = re.compile(r" \(at line (\d+), column \d+\)$")
_TABLE = re.compile(r"\s*\[([^\[\]]+)\]")
_KEY = re.compile(r"\s*([A-Za-z0-9_.\"-]+)\s*=")


class BuiltIn(Strict):
    """An agent that searches the documents and lets the configured model answer from what it finds.

    Attributes:
        kind: Whether it searches for the query alone, or also for variations that the model makes.
        search: By words (BM25), by vectors, or by both.
    """

    kind: Literal["rag", "rag_fusion"]
    search: Search = "hybrid"


class Recorded(Strict):
    """Answers in a file of TREC RAG, RAGDoll or the same fields.

    Attributes:
        answers: The file.
    """

    kind: Literal["recorded"]
    answers: Path


class Http(Strict):
    """A system behind an OpenAI-compatible endpoint for chat completions.

    Attributes:
        url: Base URL, to which `/chat/completions` is added.
        model: Name of the model to ask for.
        key_variable: Environment variable with the key; none by default.
    """

    kind: Literal["http"]
    url: HttpUrl
    model: str
    key_variable: str | None = None


class Command(Strict):
    """A system that is run once per query: the query is its input, the answer its output.

    Attributes:
        command: Program and arguments.
        folder: Folder that it is run in; that of the plan by default.
        timeout_s: Seconds that it has for a query.
    """

    kind: Literal["command"]
    command: tuple[str, ...] = Field(min_length=1)
    folder: Path = Path()
    timeout_s: float = Field(120.0, gt=0)


Others = Http | Command
"""Systems of somebody's own, whose calls are not booked here."""
AgentPlan = Annotated[BuiltIn | Recorded | Http | Command, Field(discriminator="kind")]


class Plan(Strict):
    """What a tournament consists of.

    Attributes:
        documents: File or folder of the documents that built-in agents search; None where there are none.
        queries: File of the queries.
        qrels: File of relevance labels of documents; None for none.
        arena: Name of the arena of the battles.
        passages: Number of passages that a built-in agent answers from.
        variations: Number of further searches of an agent of the kind rag_fusion.
        sentences: Longest answer of a built-in agent.
        experts: File of the grades of experts on answers; None for none.
        budget: Number of battles; None for every two answers to a query.
        pairs: Whether the budget is drawn at once, of each two agents equally many, or in rounds, the most
            informative pairs first.
        seed: Which pairs are drawn for the budget.
        agents: The agents, by name.
    """

    documents: Path | None = None
    queries: Path
    qrels: Path | None = None
    experts: Path | None = None
    arena: Name = "tournament"
    passages: int = Field(5, ge=1, le=50)
    variations: int = Field(4, ge=1, le=10)
    sentences: int = Field(6, ge=1, le=30)
    budget: int | None = Field(None, ge=1)
    pairs: Literal["all", "informative"] = "all"
    seed: int = 0
    agents: dict[AgentName, AgentPlan] = Field(min_length=2)

    @model_validator(mode="after")
    def _has_documents(self) -> Self:
        searching = [name for name, agent in self.agents.items() if isinstance(agent, BuiltIn)]
        if searching and self.documents is None:
            raise ValueError(f"documents: is missing, and the agent {searching[0]!r} searches them")
        if self.pairs == "informative" and self.budget is None:
            raise ValueError("budget: is missing, and without it all pairs are asked")
        return self


def read_plan(path: Path) -> Plan:
    """Read and check a plan; its paths become paths from the current folder.

    Raises:
        UnusableFile: It cannot be used; names file, line and field.
    """
    text = read_text(path)
    try:
        plan = Plan.model_validate(tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        line = at_line[1] if (at_line := _AT_LINE.search(str(error))) else str(text.count("\n") + 1)
        raise UnusableFile(f"{path}:{line}: is no TOML: {_AT_LINE.sub('', str(error))}") from error
    except ValidationError as error:
        detail = error.errors(include_url=False, include_input=False)[0]
        where = _field_of(detail["loc"])
        raise UnusableFile(f"{_place(path, text, where)}: {_problem(detail)}") from error
    agents = {name: _from(agent, path.parent, "answers", "folder") for name, agent in plan.agents.items()}
    found_plan = _from(plan, path.parent, "documents", "queries", "qrels", "experts").model_copy(
        update={"agents": agents}
    )
    _check_files(found_plan, path, text)
    return found_plan


def _from(model: M, folder: Path, *names: str) -> M:
    """The model with paths from the folder of the plan."""
    paths = {name: getattr(model, name, None) for name in names}
    return model.model_copy(update={name: folder / path for name, path in paths.items() if path is not None})


def _check_files(plan: Plan, path: Path, text: str) -> None:
    named: dict[tuple[str, ...], Path | None] = {
        ("documents",): plan.documents,
        ("queries",): plan.queries,
        ("qrels",): plan.qrels,
        ("experts",): plan.experts,
    }
    for name, agent in plan.agents.items():
        if isinstance(agent, Recorded):
            named["agents", name, "answers"] = agent.answers
    for where, file in named.items():
        if file is not None and not file.exists():
            raise UnusableFile(f"{_place(path, text, where)}: there is no {file}")


def _field_of(location: tuple[int | str, ...]) -> tuple[str, ...]:
    """The field of a problem, without the kind of the agent that pydantic puts between."""
    parts = tuple(str(part) for part in location if part != "[key]")
    is_agent = parts[:1] == ("agents",) and len(parts) > 3
    return (*parts[:2], *parts[3:]) if is_agent else parts


def _place(path: Path, text: str, where: tuple[str, ...]) -> str:
    """File, line and field, the line being that of the field or else of the table that lacks it."""
    table: tuple[str, ...] = ()
    lines: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _TABLE.match(line):
            table = tuple(part.strip().strip('"') for part in header[1].split(".", 1))
            lines.setdefault(table, number)
        elif key := _KEY.match(line):
            lines.setdefault((*table, key[1].strip('"')), number)
    at = next((lines[where[:size]] for size in range(len(where), 0, -1) if where[:size] in lines), None)
    return f"{path}{'' if at is None else f':{at}'}{': ' if where else ''}{'.'.join(where)}"


def _problem(detail: Any) -> str:
    match detail["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "is not a field of a plan"
        case "too_short":
            return f"a tournament needs {detail['ctx']['min_length']} agents or more"
        case "string_pattern_mismatch":
            return "the name of an agent has letters, digits, dots, hyphens, underscores and plus signs alone"
        case "union_tag_invalid" | "union_tag_not_found":
            return "kind: expected rag, rag_fusion, recorded, http or command"
    return str(detail["msg"]).removeprefix("Value error, ")
