"""The judges of an installation: their names, and the durable consumer of each.

Every judge reads every battle, so each has a consumer of its own. The platform must know all of them: the
stream keeps a message until every consumer has acked it, and a battle ends once every judge has reported.

The first judge reads the consumer `judge`, which is also that of an installation with a single judge, so that
adding a judge loses no message that waits for the first.
"""

import re
from dataclasses import dataclass

from nuggetstream.domain.failure import Stage
from services.wire.graders import evaluator_of

# Broker: names of consumers contain no dots. Database: column `source` of the outcomes.
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,69}")
JUDGE_PREFIX = f"{Stage.JUDGE.value}-"


@dataclass(frozen=True, slots=True)
class Judges:
    """The declared judges.

    Attributes:
        names: Their names, under which their verdicts are stored; empty for a single judge of any name.
    """

    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in self.names:
            if _NAME.fullmatch(name) is None:
                raise ValueError(
                    f"{name!r} cannot name a judge: use up to 70 letters, digits, dots, hyphens, underscores"
                )
        if len({_token(name) for name in self.names}) < len(self.names):
            raise ValueError("two judges have the same name, where a dot counts as an underscore")

    @classmethod
    def parse(cls, text: str) -> "Judges":
        """The judges of a list separated by commas.

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
    def durables(self) -> tuple[str, ...]:
        """The consumers of all judges."""
        return tuple(self.durable(name) for name in self.names) or (Stage.JUDGE.value,)

    def durable(self, name: str) -> str:
        """The consumer of a judge."""
        if not self.several or name == self.names[0]:
            return Stage.JUDGE.value
        return JUDGE_PREFIX + _token(name)

    def named(self, durable: str) -> str | None:
        """The name of the judge that reads a consumer; None for a single judge and for other consumers."""
        by_durable = dict(zip(self.durables, self.names, strict=False))
        return by_durable.get(durable) if self.several else None


def _token(name: str) -> str:
    return name.replace(".", "_")


def stage_of(durable: str) -> Stage | None:
    """The stage that reads a consumer; None for a consumer of no stage.

    >>> stage_of("judge-strict"), stage_of("mover")
    (<Stage.JUDGE: 'judge'>, None)
    """
    if durable.startswith(JUDGE_PREFIX):
        return Stage.JUDGE
    if evaluator_of(durable) is not None:
        return Stage.GRADER
    return next((stage for stage in Stage if stage.value == durable), None)
