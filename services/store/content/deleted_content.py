"""The content of a battle that is deleted: page texts with their chunks, message bodies, replies."""

from collections.abc import Collection, Sequence
from hashlib import sha256
from typing import cast

from sqlalchemy import String, column, delete, exists, func, insert, or_, select, union_all, update, values
from sqlalchemy.ext.asyncio import AsyncConnection

from nuggetstream.domain.event import BattleScraped
from services.store.batches import batches
from services.store.battles.event_reading import read_events
from services.store.compressed import decompress
from services.store.content.bank_tables import nugget_labels, nugget_lists
from services.store.content.chunk_tables import chunks, removed_chunks, vectors
from services.store.content.question_tables import question_banks
from services.store.content.shared import lock_content
from services.store.tables import battles, blobs, content_users, events, replies, sources
from services.wire.codec import MAX_INLINE_BYTES, decode

# Tables with the battle that brought each row.
_SHARED = (blobs, replies, nugget_lists, nugget_labels, question_banks)
_USERS_OF_PAGES = (
    (blobs, blobs.c.key),
    (content_users, content_users.c.key),
    (sources, sources.c.content_hash),
)
_REMEMBERED = 100_000  # removed chunks


async def delete_content(tx: AsyncConnection, battle_id: str) -> None:
    """Delete the content that only this battle uses; other content gets another of its users as owner.

    Args:
        tx: A transaction during which no other one deletes content.
        battle_id: Id of the battle, whose other rows still exist.
    """
    keys = await _keys(tx, battle_id)
    await tx.run_sync(lock_content, keys, deleting=True)
    await tx.execute(delete(content_users).where(content_users.c.battle_id == battle_id))
    for batch in batches(keys):
        others = await _other_users(tx, battle_id, batch)
        for key, other in others.items():
            await _hand_over(tx, battle_id, key, other)
        unused = [key for key in batch if key not in others]
        for table in _SHARED:
            await tx.execute(delete(table).where(table.c.key.in_(unused)))
        await _delete_chunks(tx, battle_id, batch)


async def _keys(tx: AsyncConnection, battle_id: str) -> list[str]:
    """The keys of all content that the battle uses."""
    stored = union_all(
        *(select(table.c.key).where(table.c.battle_id == battle_id) for table in _SHARED),
        select(content_users.c.key).where(content_users.c.battle_id == battle_id),
        select(sources.c.content_hash).where(sources.c.battle_id == battle_id),
    )
    keys = set(await tx.scalars(stored))
    # Content from before its battles were stored with it is found by the events.
    for event in await tx.run_sync(read_events, battle_id, names=("scraped",)):
        scraped = cast(BattleScraped, decode(event.schema, event.body))
        keys.update(page.content_hash for page in scraped.pages if page.content_hash is not None)
    for body in await tx.scalars(
        select(events.c.body).where(
            events.c.battle_id == battle_id, func.length(events.c.body) > MAX_INLINE_BYTES
        )
    ):
        keys.add(sha256(decompress(body)).hexdigest())
    return sorted(keys)


async def _other_users(tx: AsyncConnection, battle_id: str, keys: Collection[str]) -> dict[str, str]:
    """Another battle that uses the content, by key; keys without one are left out."""
    wanted = values(column("key", String), name="wanted").data([(key,) for key in keys]).cte("wanted")
    others = [
        # One row, however many battles use the same page.
        select(table.c.battle_id)
        .where(key == wanted.c.key, table.c.battle_id != battle_id)
        .limit(1)
        .scalar_subquery()
        for table, key in (
            *((table, table.c.key) for table in _SHARED if table is not blobs),
            *_USERS_OF_PAGES,
        )
    ]
    rows = await tx.execute(select(wanted.c.key, func.coalesce(*others).label("battle_id")))
    return {row.key: row.battle_id for row in rows if row.battle_id is not None}


async def _hand_over(tx: AsyncConnection, battle_id: str, key: str, other: str) -> None:
    for table in _SHARED:
        owned = (table.c.key == key, table.c.battle_id == battle_id)
        if (await tx.execute(update(table).where(*owned).values(battle_id=other))).rowcount:
            user = (content_users.c.key == key, content_users.c.battle_id == other)
            await tx.execute(delete(content_users).where(*user))


async def _delete_chunks(tx: AsyncConnection, battle_id: str, content_hashes: Sequence[str]) -> None:
    """Delete the chunks of pages in arenas of which no other battle uses them, and their vectors.

    A vector that another chunk shares is computed again when it is needed.
    """
    users = union_all(
        *(
            select(key.label("key"), table.c.battle_id).where(
                key.in_(content_hashes), table.c.battle_id != battle_id
            )
            for table, key in _USERS_OF_PAGES
        )
    ).subquery()
    # A battle that is not stored yet may be of any arena.
    in_use = exists(
        select(users.c.key)
        .outerjoin(battles, battles.c.id == users.c.battle_id)
        .where(users.c.key == chunks.c.content_hash)
        .where(or_(battles.c.id.is_(None), battles.c.arena == chunks.c.arena))
    )
    query = select(chunks.c.id, chunks.c.text_hash).where(chunks.c.content_hash.in_(content_hashes), ~in_use)
    rows = (await tx.execute(query)).all()
    if not rows:
        return
    for ids in batches([row.id for row in rows]):
        await tx.execute(delete(chunks).where(chunks.c.id.in_(ids)))
    for batch in batches(sorted({row.text_hash for row in rows})):
        await tx.execute(delete(vectors).where(vectors.c.text_hash.in_(batch)))
    await tx.execute(insert(removed_chunks), [{"id": row.id} for row in rows])
    newest = await tx.scalar(select(func.max(removed_chunks.c.number)))
    await tx.execute(delete(removed_chunks).where(removed_chunks.c.number <= (newest or 0) - _REMEMBERED))
