"""The judges and nuggetizers of an installation: their names, and the durable consumer of each.

Every judge and every nuggetizer reads every battle, so each has a consumer of its own. The platform must know
all of them: the stream keeps a message until every consumer has acked it, and a battle ends once each has
reported.

The first judge reads the consumer `judge`, which is also that of an installation with a single judge, so that
adding a judge loses no message that waits for the first. The same holds for `nuggetizer`.
"""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from nuggetstream.domain.failure import Stage
from services.wire.graders import evaluator_of


@dataclass(frozen=True, slots=True)
class Declared:
    """The declared processes of one stage, such as the judges.

    Attributes:
        names: Their names, under which their results are stored; empty for a single one of any name.
    """

    stage: ClassVar[Stage]
    longest: ClassVar[int]  # characters of a name, so that the column `source` of the outcomes takes it
    variable: ClassVar[str]  # environment variable that names all of them
    own_variable: ClassVar[str]  # environment variable that says which one a process is

    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        # Names of consumers contain no dots.
        allowed = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{self.longest - 1}}}")
        for name in self.names:
            if allowed.fullmatch(name) is None:
                raise ValueError(
                    f"{name!r} cannot name a {self.stage}: use up to {self.longest} letters, digits, dots, "
                    "hyphens, underscores"
                )
        if len({_token(name) for name in self.names}) < len(self.names):
            raise ValueError(f"two {self.stage}s have the same name, where a dot counts as an underscore")

    @classmethod
    def parse(cls, text: str) -> Self:
        """The names in a list separated by commas.

        Raises:
            ValueError: A name contains another character, or appears twice.

        >>> Judges.parse("pairwise, gpt-4.1").durables
        ('judge', 'judge-gpt-4_1')
        """
        return cls(tuple(name.strip() for name in text.split(",") if name.strip()))

    @property
    def several(self) -> bool:
        """Whether there is more than one."""
        return len(self.names) > 1

    @property
    def first(self) -> str:
        """The name of the first; that of the stage where none is declared."""
        return self.names[0] if self.names else self.stage.value

    @property
    def durables(self) -> tuple[str, ...]:
        """The consumers of all of them."""
        return tuple(self.durable(name) for name in self.names) or (self.stage.value,)

    def durable(self, name: str) -> str:
        """The consumer of one of them."""
        if not self.several or name == self.names[0]:
            return self.stage.value
        return prefix_of(self.stage) + _token(name)

    def named(self, durable: str) -> str | None:
        """The name of the one that reads a consumer; None for a single one and for other consumers."""
        by_durable = dict(zip(self.durables, self.names, strict=False))
        return by_durable.get(durable) if self.several else None


@dataclass(frozen=True, slots=True)
class Judges(Declared):
    """The declared judges."""

    stage = Stage.JUDGE
    longest = 70
    variable = "NUGGETSTREAM_JUDGES"
    own_variable = "NUGGETSTREAM_JUDGE_NAME"


@dataclass(frozen=True, slots=True)
class Nuggetizers(Declared):
    """The declared nuggetizers; battles rest on the list of the first."""

    stage = Stage.NUGGETIZER
    longest = 60
    variable = "NUGGETSTREAM_NUGGETIZERS"
    own_variable = "NUGGETSTREAM_NUGGETIZER"

    def is_additional(self, name: str) -> bool:
        """Whether a nuggetizer is not the first of several."""
        return self.several and name != self.names[0]


DECLARABLE: tuple[type[Declared], ...] = (Judges, Nuggetizers)


def prefix_of(stage: Stage) -> str:
    """What the consumers of all but the first begin with."""
    return f"{stage.value}-"


def stage_of(durable: str) -> Stage | None:
    """The stage that reads a consumer; None for a consumer of no stage.

    >>> stage_of("judge-strict"), stage_of("nuggetizer-second"), stage_of("mover")
    (<Stage.JUDGE: 'judge'>, <Stage.NUGGETIZER: 'nuggetizer'>, None)
    """
    for declared in DECLARABLE:
        if durable.startswith(prefix_of(declared.stage)):
            return declared.stage
    if evaluator_of(durable) is not None:
        return Stage.GRADER
    return next((stage for stage in Stage if stage.value == durable), None)


def _token(name: str) -> str:
    return name.replace(".", "_")
