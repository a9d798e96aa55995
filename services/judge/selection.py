"""Which battles an evaluator grades, and what it may cost: one table per evaluator in a TOML file.

    [answer_quality]
    share = 0.1                     # of the battles, chosen by a hash of their ids
    arenas = ["demo"]
    tags = ["category:science"]     # battles with at least one of them
    languages = ["de", "pt-BR"]
    day_tokens = 1_000_000          # per day (UTC)
    day_money = "2.50"              # in the currency of the price file

What is left out does not restrict the evaluator.
"""

import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from nuggetstream.domain.battle import Battle
from nuggetstream.domain.identity import content_hash
from services.runtime.llm.accounting import Limit

_HASHES = 16**8


class Selection(BaseModel):
    """The battles that an evaluator grades, and its budget.

    Attributes:
        share: Share of the battles, 0 to 1. Evaluators with smaller shares grade a part of the same battles.
        arenas: Names of arenas; None grades those of all.
        tags: Tags of which a battle has at least one; None grades all.
        languages: BCP 47 tags; "de" includes "de-AT". None grades all. With it, a battle whose language is
            unknown is not graded.
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

    def includes(self, battle: Battle) -> bool:
        """Whether the evaluator grades a battle; the answer is always the same."""
        return (
            int(content_hash(battle.id)[:8], 16) < self.share * _HASHES
            and (self.arenas is None or battle.arena in self.arenas)
            and (self.tags is None or not self.tags.isdisjoint(battle.tags))
            and (self.languages is None or _is_one_of(battle.language, self.languages))
        )


def read_selections(file: Path) -> Mapping[str, Selection]:
    """The selections of a file, by name of the evaluator.

    Raises:
        ValueError: It is no TOML, or a table has an unknown or invalid field.
        OSError: It cannot be read.
    """
    return _TABLES.validate_python(tomllib.loads(file.read_text(encoding="utf-8")))


def _is_one_of(language: str | None, languages: tuple[str, ...]) -> bool:
    if language is None:
        return False
    tag = language.lower()
    return any(tag == own.lower() or tag.startswith(f"{own.lower()}-") for own in languages)


_TABLES = TypeAdapter(dict[str, Selection])
