"""Studies that ask people: the file that describes one, checked, and what their answers look like.

name = "Tides"                 # of the study
arena = "demo"                 # its battles are what people compare
languages = ["en", "de"]

[[training]]                   # [[gold]] looks the same
battle = "tides-1"
labels = { quality_overall = "a" }
"""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, ConfigDict, Field, ValidationError, model_validator

from nuggetstream.files.crowdrag import DIMENSIONS, FORCED_CHOICE
from nuggetstream.files.fields import Name, Strict, Text, at_most, few, not_blank
from nuggetstream.files.opening import UnusableFile
from nuggetstream.files.text import read_text

MOST_ITEMS = 10_000
"""Battles of one study."""
LONGEST_JUSTIFICATION = 2000
"""Characters of a justification."""
_Long = Annotated[Text, at_most(20_000), AfterValidator(not_blank)]
_Language = Annotated[str, Field(pattern=r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$", max_length=35)]
_DimensionName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_]{0,59}$")]


class Dimension(Strict):
    """One question about a pair of answers."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    name: _DimensionName
    """Name in exports, and in the key `dimension NAME` of its question."""
    neutral: bool = True
    """Whether people may choose neither answer."""


SEVEN = tuple(Dimension(name=name, neutral=name not in FORCED_CHOICE) for name in DIMENSIONS)
"""The dimensions of CrowdRAG-25."""


class KnownItem(Strict):
    """A battle with labels that are known: people practise on it, or are checked by it."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    battle: Name
    """Id of the battle."""
    labels: Annotated[dict[str, Annotated[str, Field(max_length=20)]], Field(min_length=1, max_length=50)]
    """Dimension -> expected label: a, n or b; where answers are graded, `NAME a` and `NAME b` -> grade."""


class CrowdStudySubmission(Strict):
    """A study that asks people, as an administrator describes it."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    name: Name
    """What administrators call it."""
    arena: Name = "default"
    """Arena whose battles people judge."""
    battles: Annotated[list[Name], few(MOST_ITEMS)] = Field(default_factory=list)
    """Ids of the battles; the newest 10,000 of the arena when empty."""
    mode: Literal["compare", "grade"] = "compare"
    """compare: which answer is better. grade: a grade for each answer, by itself."""
    dimensions: Annotated[list[Dimension], few(20)] = Field(default_factory=lambda: [*SEVEN], min_length=1)
    """The questions; the last one decides which pairs are asked next."""
    grades: int = Field(default=5, ge=2, le=10)
    """Highest grade; 1 is the lowest."""
    justify: bool = False
    """Whether people justify each answer in a sentence or two."""
    pairs_per_worker: int = Field(default=15, ge=1, le=200)
    """Pairs of one worker, as many short as long ones."""
    workers_per_pair: int = Field(default=5, ge=1, le=100)
    """Workers who judge the same pair."""
    reversed_share: float = Field(default=1 / 3, ge=0, le=1)
    """Share of the pairs that are shown with B first."""
    minutes: float = Field(default=10, ge=0.05, le=24 * 60)
    """Minutes for one pair; afterwards somebody else gets it."""
    most_workers: int = Field(default=10_000, ge=1, le=100_000)
    """Workers who may begin."""
    top: int = Field(default=5, ge=1, le=100)
    """Number of best systems that the study is to find."""
    training: Annotated[list[KnownItem], few(20)] = Field(default_factory=list)
    """What everybody practises on first."""
    gold: Annotated[list[KnownItem], few(20)] = Field(default_factory=list)
    """What is mixed in to check people."""
    languages: list[_Language] = Field(default_factory=lambda: ["en", "de"], min_length=1, max_length=50)
    """Languages of the questionnaire, the usual one first."""
    texts: dict[_Language, dict[Annotated[str, Field(max_length=80)], _Long]] = Field(default_factory=dict)
    """Language -> key -> text, in place of the built-in texts."""
    completion_code: Annotated[Name, Field(max_length=60)] | None = None
    """The code that everybody sees at the end; one for each worker when absent."""

    @property
    def names(self) -> list[str]:
        """Names of the dimensions."""
        return [dimension.name for dimension in self.dimensions]

    def allowed(self) -> dict[str, tuple[str, ...]]:
        """Name of every answer that people give -> the labels that it can have."""
        if self.mode == "grade":
            grades = tuple(str(grade) for grade in range(1, self.grades + 1))
            return {f"{name} {side}": grades for name in self.names for side in "ab"}
        return {
            dimension.name: ("a", "n", "b") if dimension.neutral else ("a", "b")
            for dimension in self.dimensions
        }

    def deciding(self, labels: Mapping[str, str]) -> str:
        """What labels say about the pair in the last dimension: "a", "n" or "b"."""
        name = self.names[-1]
        if self.mode == "compare":
            return labels[name]
        a, b = int(labels[f"{name} a"]), int(labels[f"{name} b"])
        return "n" if a == b else "a" if a > b else "b"

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if len(set(self.names)) < len(self.names):
            raise ValueError("dimensions: a name occurs twice")
        set_apart = [item.battle for item in (*self.training, *self.gold)]
        if len(set(set_apart)) < len(set_apart) or not set(set_apart).isdisjoint(self.battles):
            raise ValueError("training, gold and battles: a battle occurs twice")
        allowed = self.allowed()
        for item in (*self.training, *self.gold):
            for name, label in item.labels.items():
                if label not in allowed.get(name, ()):
                    raise ValueError(f"battle {item.battle!r}: {name} cannot be {label!r}")
        return self


def read_crowd_study(path: Path) -> CrowdStudySubmission:
    """The study that a TOML file describes.

    Raises:
        UnusableFile: Names the file, and every field that is wrong.
    """
    try:
        return CrowdStudySubmission.model_validate(tomllib.loads(read_text(path)))
    except tomllib.TOMLDecodeError as error:
        raise UnusableFile(f"{path}: {error}") from None
    except ValidationError as error:
        problems = "; ".join(
            f"{'.'.join(map(str, one['loc'])) or 'study'}: {one['msg'].removeprefix('Value error, ')}"
            for one in error.errors(include_url=False, include_input=False)
        )
        raise UnusableFile(f"{path}: {problems}") from None
