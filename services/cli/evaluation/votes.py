"""Votes of a file on battles that were evaluated before: they come after the answers, or are corrected."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from urllib.parse import quote

import httpx2

from services.cli.evaluation.kept_lines import KeptLine
from services.store.batches import batches
from services.store.battles.battles import Battles


@dataclass(frozen=True, slots=True)
class MergedVotes:
    """What the votes of a file changed in battles of earlier runs.

    Attributes:
        added: Number of votes that such battles got.
        changed: Number of votes in which a voter's earlier one was replaced.
    """

    added: int = 0
    changed: int = 0


async def merge_votes(
    http: httpx2.AsyncClient, battles: Battles, lines: Sequence[KeptLine], earlier: Collection[str]
) -> MergedVotes:
    """Cast the votes of lines that their battles do not have yet; the newest vote of a voter counts.

    Args:
        http: Sends requests to the platform.
        battles: The battles in its database.
        lines: Lines whose battles are stored with the same content.
        earlier: Ids of the battles of earlier runs.
    """
    added = changed = 0
    for part in batches([line for line in lines if line.vote is not None]):
        counted = await battles.votes_of([line.id for line in part])
        for line in part:
            vote = line.vote
            if vote is None or (before := counted.get((line.id, vote.voter))) is vote.vote:
                continue
            body = {"vote": vote.vote.value, "voter": vote.voter, "comment": vote.comment}
            (await http.post(f"/v1/battles/{quote(line.id)}/vote", json=body)).raise_for_status()
            counted[line.id, vote.voter] = vote.vote
            if line.id in earlier:
                changed += before is not None
                added += before is None
    return MergedVotes(added, changed)
