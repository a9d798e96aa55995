"""The flags of a battle."""

from dataclasses import asdict

from nuggetstream.domain.battle import Battle, Side
from nuggetstream.domain.flag import Flag
from nuggetstream.text.manipulation.detection import flagged


def flags_of(battle: Battle) -> tuple[Flag, ...]:
    """The flags of both answers. A battle of the same answers always has the same flags."""
    return tuple(
        Flag(side=side, **asdict(finding)) for side in Side for finding in flagged(battle.answer(side).text)
    )
