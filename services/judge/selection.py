"""Which battles an evaluator grades, and what it may cost: one table per evaluator in a TOML file.

    [answer_quality]
    share = 0.1                     # of the battles, chosen by a hash of their ids
    arenas = ["demo"]
    tags = ["category:science"]     # battles with at least one of them
    languages = ["de", "pt-BR"]     # declared or detected
    day_tokens = 1_000_000          # per day (UTC)
    day_money = "2.50"              # in the currency of the price file

What is left out does not restrict the evaluator. A table may also name the members of a panel:

    [pairwise]
    members = ["gpt-5", { name = "local", model = "qwen3-32b" }]
    aggregation = "majority"        # or "probabilities"; of an evaluator that grades "median" or "majority"

The table of a judge may have `tie_band = 0.1`: probabilities of A and B that differ by so much are a tie.
"""

import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, model_validator

from nuggetstream.domain.battle import Battle
from nuggetstream.domain.grade import GradeAggregation
from nuggetstream.domain.identity import content_hash
from nuggetstream.domain.judgment import Aggregation
from nuggetstream.text.languages import DetectedLanguage
from services.runtime.languages import language_of
from services.runtime.llm.accounting import Limit

_HASHES = 16**8
_NO_TYPES: Mapping[str, type["Selection"]] = {}


class Selection(BaseModel):
    """The battles that an evaluator grades, and its budget.

    Attributes:
        share: Share of the battles, 0 to 1. Evaluators with smaller shares grade a part of the same battles.
        arenas: Names of arenas; None grades those of all.
        tags: Tags of which a battle has at least one; None grades all.
        languages: BCP 47 tags; "de" includes "de-AT". None grades all. With it, a battle whose language is
            neither declared nor detected is not graded.
        day_tokens: Budget of tokens per day (UTC); None is unlimited.
        day_money: Budget of money per day, in the currency of the price file; None is unlimited.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    share: float = Field(1.0, ge=0, le=1)
    arenas: frozenset[str] | None = None
    tags: frozenset[str] | None = None
    languages: tuple[str, ...] | None = None
    day_tokens: int | None = Field(None, ge=0)
    day_money: Decimal | None = Field(None, ge=0)

    @property
    def day(self) -> Limit:
        """The budget per day."""
        return Limit(self.day_tokens, self.day_money)

    @property
    def asked(self) -> str:
        """What an evaluator's own options change about its questions; part of ids derived from the reply."""
        return self._besides(Selection)

    def _besides(self, general: type["Selection"]) -> str:
        """The options that a more general type does not have; empty where they have their defaults."""
        shared = set(general.model_fields)
        own = self.model_dump_json(exclude=shared)
        return "" if own == type(self)().model_dump_json(exclude=shared) else own

    async def detected(self, battle: Battle, *, needed: bool = False) -> DetectedLanguage | None:
        """The language of a battle that declares none, detected if it is needed here or elsewhere."""
        if battle.language is not None or (self.languages is None and not needed):
            return None
        return await language_of(battle.query)

    async def selects(self, battle: Battle) -> bool:
        """Whether a battle is selected, by its declared language or else by a detected one."""
        detected = await self.detected(battle)
        return self.includes(battle, battle.language if detected is None else detected.tag)

    def includes(self, battle: Battle, language: str | None) -> bool:
        """Whether the evaluator grades a battle; the answer is always the same.

        Args:
            battle: The battle.
            language: Its language, declared or detected; None where it is not known.
        """
        return (
            int(content_hash(battle.id)[:8], 16) < self.share * _HASHES
            and (self.arenas is None or battle.arena in self.arenas)
            and (self.tags is None or not self.tags.isdisjoint(battle.tags))
            and (self.languages is None or _is_one_of(language, self.languages))
        )


class Member(BaseModel):
    """A member of a panel.

    Attributes:
        model: Model to ask, at the endpoint of the settings.
        name: Its name in results and on boards; the model's by default.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = Field(min_length=1)
    name: str = Field("", max_length=40, pattern=r"^[A-Za-z0-9][A-Za-z0-9._/:-]*$", validate_default=True)

    @model_validator(mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        return {"name": value["model"], **value} if isinstance(value, dict) and "model" in value else value


def _from_name(value: Any) -> Any:
    return {"model": value} if isinstance(value, str) else value


class PanelOptions(Selection):
    """The battles that are evaluated, the budget, and the panel.

    Attributes:
        members: Members of a panel; without any the configured model evaluates alone.
    """

    members: tuple[Annotated[Member, BeforeValidator(_from_name)], ...] = ()

    @model_validator(mode="after")
    def _is_a_panel(self) -> Self:
        names = [member.name for member in self.members]
        if len(names) == 1 or len(set(names)) < len(names):
            raise ValueError("a panel has at least two members, with different names")
        if not names and "aggregation" in self.model_fields_set:
            raise ValueError("aggregation is of a panel: name its members")
        return self


class GraderOptions(PanelOptions):
    """The battles that an evaluator grades, its budget, and its panel.

    Attributes:
        aggregation: How the members' grades become one.
    """

    aggregation: GradeAggregation = GradeAggregation.MEDIAN

    @property
    def asked(self) -> str:
        """What the evaluator's own options change about its questions, whoever is asked."""
        return self._besides(GraderOptions)


class JudgeOptions(PanelOptions):
    """The battles that a judge compares, its budget, and its panel.

    Attributes:
        aggregation: How the members' verdicts become one.
        tie_band: Largest difference of the probabilities of A and B that is a tie; None takes the verdicts as
            they are. Of a panel it needs the aggregation by probabilities.
        threshold: Smallest relevance, 0 to 2, of the documents that `pairwise_documents` shows.
        factors: What `pairwise_documents` weighs, in words; None for its own.
        citations: Whether `pairwise_documents` keeps the citation marks of the answers.
        per_dimension: Whether `utility` asks for each dimension in a call of its own.
    """

    aggregation: Aggregation = Aggregation.MAJORITY
    tie_band: float | None = Field(None, ge=0, le=1, exclude_if=lambda band: band is None)  # ids stay
    threshold: int = Field(1, ge=0, le=2)
    factors: str | None = Field(None, min_length=1, max_length=1000)
    citations: bool = True
    per_dimension: bool = False


def read_selections(file: Path, types: Mapping[str, type[Selection]] = _NO_TYPES) -> Mapping[str, Selection]:
    """The selections of a file, by name of the evaluator.

    Args:
        file: The file.
        types: Types of the tables of evaluators and judges with options of their own, by name.

    Raises:
        ValueError: It is no TOML, or a table has an unknown or invalid field.
        OSError: It cannot be read.
    """
    tables = _TABLES.validate_python(tomllib.loads(file.read_text(encoding="utf-8")))
    return {name: types.get(name, Selection).model_validate(table) for name, table in tables.items()}


def _is_one_of(language: str | None, languages: tuple[str, ...]) -> bool:
    if language is None:
        return False
    tag = language.lower()
    return any(tag == own.lower() or tag.startswith(f"{own.lower()}-") for own in languages)


_TABLES = TypeAdapter(dict[str, dict[str, Any]])
