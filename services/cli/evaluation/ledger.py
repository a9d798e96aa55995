"""What an evaluation remembers of the battles of its folder beside the database.

    OUT/state/battles.jsonl    id, human references and settings of each battle; the last line of an id counts

The results of a folder are those of all its battles, whichever file and run they came from, so their human
references and the settings that they were evaluated with are kept with them.
"""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nuggetstream.domain.battle import Vote

_FILE = "battles.jsonl"
Settings = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Noted:
    """One battle of the folder.

    Attributes:
        id: Its id.
        reference: Human preference per dimension; "vote" for a plain vote.
        settings: Settings of its evaluation by name; empty where they are not known.
    """

    id: str
    reference: Mapping[str, Vote] = field(default_factory=dict)
    settings: Settings = field(default_factory=dict)


class Ledger:
    """The battles of a folder in the order in which they came first.

    Args:
        folder: Folder of the state, created when something is noted.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE
        self.battles: dict[str, Noted] = {}
        if self._path.exists():
            for line in self._path.read_text(encoding="utf-8").splitlines():
                if (noted := _noted(line)) is not None:
                    self.battles[noted.id] = noted

    def note(self, battles: Iterable[Noted]) -> None:
        """Remember battles, or what has changed of them.

        Raises:
            OSError: The file cannot be written, for instance because the disk is full.
        """
        changed = [battle for battle in battles if self.battles.get(battle.id) != battle]
        if not changed:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            for battle in changed:
                row = {"id": battle.id, "reference": battle.reference, "settings": battle.settings}
                file.write(f"{json.dumps(row, ensure_ascii=False)}\n")
                self.battles[battle.id] = battle

    def others(self, settings: Settings, ids: Collection[str]) -> Counter[tuple[str, ...]]:
        """How many of some battles were evaluated with other settings, by what differs ("name=value")."""
        counts: Counter[tuple[str, ...]] = Counter()
        for battle in map(self.battles.get, ids):
            if battle is not None and battle.settings and battle.settings != settings:
                counts[differing(battle.settings, settings)] += 1
        return counts


def differing(settings: Settings, others: Settings) -> tuple[str, ...]:
    """The settings that others do not share, each as "name=value"; "none" for one that is not set.

    >>> differing({"profile": "live", "model": "m"}, {"profile": "paper", "model": "m"})
    ('profile=live',)
    """
    names = [name for name in {**settings, **others} if settings.get(name) != others.get(name)]
    return tuple(f"{name}={settings.get(name) or 'none'}" for name in names)


def _noted(line: str) -> Noted | None:
    """The battle of a line; None for one that was cut off when its process was killed."""
    try:
        row = json.loads(line)
        reference = {name: Vote(vote) for name, vote in row["reference"].items()}
        return Noted(row["id"], reference, row["settings"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
