"""Which battles an evaluator grades, and what it may cost: one table per evaluator in a TOML file.

    [answer_quality]
    share = 0.1                     # of the battles, chosen by a hash of their ids
    arenas = ["demo"]
    tags = ["category:science"]     # battles with at least one of them
    languages = ["de", "pt-BR"]     # declared or detected
    day_tokens = 1_000_000          # per day (UTC)
    day_money = "2.50"              # in the currency of the price file

What is left out does not restrict the evaluator. A table may also name its models; several are a panel:

    [pairwise]
    models = ["gpt-5", { name = "local", model = "qwen3-32b" }]
    aggregation = "majority"        # or "probabilities"; of an evaluator that grades "median" or "majority"

The table of a judge may have `tie_band = 0.1`: probabilities of A and B that differ by so much are a tie.
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, model_validator

from nuggetstream.domain.battle import Battle
from nuggetstream.domain.grade import GradeAggregation
from nuggetstream.domain.identity import content_hash
from nuggetstream.domain.judgment import Aggregation
from nuggetstream.text.languages import DetectedLanguage
from services.runtime.languages import language_of
from services.runtime.llm.prices import DayBudget

_HASHES = 16**8


class Selection(DayBudget):
    """The battles that an evaluator grades, and its budget.

    Attributes:
        share: Share of the battles, 0 to 1. Evaluators with smaller shares grade a part of the same battles.
        arenas: Names of arenas; None grades those of all.
        tags: Tags of which a battle has at least one; None grades all.
        languages: BCP 47 tags; "de" includes "de-AT". None grades all. With it, a battle whose language is
            neither declared nor detected is not graded.
    """

    share: float = Field(1.0, ge=0, le=1)
    arenas: frozenset[str] | None = None
    tags: frozenset[str] | None = None
    languages: tuple[str, ...] | None = None

    async def detected(self, battle: Battle, *, needed: bool = False) -> DetectedLanguage | None:
        """The language of a battle that declares none, detected if it is needed here or elsewhere."""
        if battle.language is not None or (self.languages is None and not needed):
            return None
        return await language_of(battle.query)

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


class Model(BaseModel):
    """A model of an evaluator.

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


class Options(Selection):
    """The battles that an evaluator reads, its budget, and its models.

    Attributes:
        models: Models to ask, as a panel where there are several; without any the configured one.
    """

    models: tuple[Annotated[Model, BeforeValidator(_from_name)], ...] = ()

    @model_validator(mode="after")
    def _is_a_panel(self) -> Self:
        names = [model.name for model in self.models]
        if len(set(names)) < len(names):
            raise ValueError("the models of a panel have different names")
        if len(names) < 2 and "aggregation" in self.model_fields_set:
            raise ValueError("aggregation is of a panel: name several models")
        return self

    @property
    def asked(self) -> str:
        """All options but the selection; part of ids derived from replies. Empty for the defaults."""
        own = self.model_dump_json(exclude=set(Selection.model_fields), exclude_defaults=True)
        return "" if own == "{}" else own


class GradeOptions(Options):
    """The options of an evaluator that yields grades.

    Attributes:
        aggregation: How the grades of several models become one.
    """

    aggregation: GradeAggregation = GradeAggregation.MEDIAN


class VerdictOptions(Options):
    """The options of a judge.

    Attributes:
        aggregation: How the verdicts of several models become one.
        tie_band: Largest difference of the probabilities of A and B that is a tie; None takes the verdicts as
            they are. Of a panel it needs the aggregation by probabilities.
    """

    aggregation: Aggregation = Aggregation.MAJORITY
    tie_band: float | None = Field(None, ge=0, le=1)

    @model_validator(mode="after")
    def _band_applies(self) -> Self:
        if self.tie_band is not None and len(self.models) > 1 and self.aggregation is Aggregation.MAJORITY:
            raise ValueError(
                "this panel decides by majority, and a tie band applies to mean probabilities: set "
                'aggregation = "probabilities", or remove tie_band'
            )
        return self


def read_options(file: Path, types: Mapping[str, type[Options]]) -> Mapping[str, Options]:
    """The options of a file, by name of the evaluator.

    Args:
        file: The file.
        types: Type of the table of each evaluator, by name.

    Raises:
        ValueError: It is no TOML, names no evaluator, or a table has an unknown or invalid field.
        OSError: It cannot be read.
    """
    tables = _TABLES.validate_python(tomllib.loads(file.read_text(encoding="utf-8")))
    if unknown := sorted(set(tables) - set(types)):
        raise ValueError(f"there is no evaluator {', '.join(unknown)}")
    return {name: types[name].model_validate(table) for name, table in tables.items()}


def _is_one_of(language: str | None, languages: tuple[str, ...]) -> bool:
    if language is None:
        return False
    tag = language.lower()
    return any(tag == own.lower() or tag.startswith(f"{own.lower()}-") for own in languages)


_TABLES = TypeAdapter(dict[str, dict[str, Any]])
