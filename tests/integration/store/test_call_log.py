"""The log of model calls: what it keeps, how little it stores, and what it forgets."""

from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import event, func, select
from sqlalchemy.engine import Engine

from nuggetstream.domain.battle import Side
from services.runtime.llm.call_log import ModelCall, Outcome
from services.runtime.masking import KNOWN
from services.store.battles.battles import Battles
from services.store.battles.deletion import Deletions
from services.store.content.blobs import Replies
from services.store.database import Database
from services.store.spend.call_log import CallRetention, DatabaseCallLog
from services.store.spend.call_reading import read_calls
from services.store.spend.call_tables import call_prompts, call_texts, calls
from services.wire.codec import encode
from tests.samples import NOON
from tests.stored import LATER, call_of, places_of, sent

LONG = " ".join(f"Sentence {number} of the answer stands only here." for number in range(60))
RULES = "Compare the answers of two systems and say which one is better for the reader, and why it is so."


def long_call(name: str = "oolong", nonce: str = "0" * 16) -> ModelCall:
    """A call whose prompt has an answer as a block, and once more with numbered sentences."""
    submitted = sent(name)
    battle = replace(submitted.battle, a=replace(submitted.battle.a, text=LONG))
    numbered = " ".join(f"[#{n}] {part}." for n, part in enumerate(LONG.split(". ")))
    content = f"{RULES}\n\n<<<answer A #{nonce}>>>\n{LONG}\n<<<end A #{nonce}>>>\n{numbered}"
    messages = call_of(submitted, "").messages[:1]
    return replace(
        call_of(replace(submitted, battle=battle), "", key=f"{name:x<64}"),
        messages=[*messages, {"role": "user", "content": content}],
    )


async def accept(database: Database, call: ModelCall) -> None:
    submitted = sent(call.battle_id)
    battle = replace(submitted.battle, a=replace(submitted.battle.a, text=LONG))
    await Battles(database).accept(battle, encode(replace(submitted, battle=battle)), NOON)


async def test_a_prompt_is_read_as_it_was_sent_and_takes_little(database: Database) -> None:
    call = long_call()
    await accept(database, call)
    await DatabaseCallLog(database).add(
        [call, replace(call, attempt=2, outcome=Outcome.ANSWERED, reply=None)]
    )
    stored = '{"reply": "{\\"winner\\":\\"a\\"}", "model": "m", "input_tokens": 1, "output_tokens": 1}'
    await Replies(database).put(call.key, stored, call.battle_id)
    first, second = await database.read(lambda connection: read_calls(connection, "oolong"))
    for read in (first, second):
        assert [(m.role, m.content) for m in read.prompt or ()] == [
            (m["role"], m["content"]) for m in call.messages
        ]
    assert (first.reply, second.reply) == ("a reply about oolong", '{"winner":"a"}')
    assert (first.attempt, second.attempt, first.seconds) == (1, 2, 1.5)
    async with database.transaction() as tx:
        [size] = (await tx.scalars(select(func.length(call_prompts.c.body)))).all()
        texts = (await tx.scalars(select(call_texts.c.body))).all()
    assert size < sum(len(message["content"]) for message in call.messages) / 10
    assert texts == [RULES.encode()]  # nothing that a stranger wrote is shared by battles


async def test_another_battle_with_the_same_instructions_stores_them_once(database: Database) -> None:
    log = DatabaseCallLog(database)
    for name, nonce in (("oolong", "0" * 16), ("sencha", "1" * 16)):
        await accept(database, long_call(name))
        await log.add([long_call(name, nonce)])
    async with database.transaction() as tx:
        assert await tx.scalar(select(func.count()).select_from(call_texts)) == 1


async def test_a_group_of_calls_takes_a_fixed_number_of_statements(database: Database) -> None:
    statements: list[str] = []

    def note(_c: object, _cursor: object, statement: str, *_: object) -> None:
        if statement.startswith("INSERT"):
            statements.append(statement)

    log = DatabaseCallLog(database)
    await log.add([long_call()])
    event.listen(Engine, "before_cursor_execute", note)
    try:
        await log.add([long_call(f"tea {number}") for number in range(50)])
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    assert len(statements) == 2


async def test_nothing_of_a_deleted_battle_is_left_in_the_log(database: Database) -> None:
    """References are resolved and packed texts unpacked, so the texts themselves are looked for."""
    call = long_call()
    await accept(database, call)
    await DatabaseCallLog(database).add([call])
    [read] = await database.read(lambda connection: read_calls(connection, "oolong"))
    assert any(LONG in message.content for message in read.prompt or ())
    async with database.transaction() as tx:
        await tx.exec_driver_sql("UPDATE battles SET ended_at = received_at")
    await Deletions(database).delete("oolong", LATER)
    assert await database.read(lambda connection: read_calls(connection, "oolong")) == []
    assert await places_of(database, "oolong") == {"deletions.battle_id"}
    async with database.transaction() as tx:
        kept = [body.decode() for body in await tx.scalars(select(call_texts.c.body))]
    assert not any(part in text for text in kept for part in ("Sentence", sent("oolong").battle.b.text))


async def test_a_known_secret_is_not_stored_and_what_looks_like_one_is_not_shown(database: Database) -> None:
    KNOWN.remember("a-secret-of-this-test")
    call = long_call()
    await accept(database, call)
    told = "a-secret-of-this-test, sk-abcdefghijklmnop1234"
    content = f"{call.messages[1]['content']} {told}"
    given = replace(
        call, detail=told, reply=None, messages=[call.messages[0], {"role": "user", "content": content}]
    )
    await DatabaseCallLog(database).add([given])
    assert await places_of(database, "a-secret-of-this-test") == set()
    [read] = await database.read(lambda connection: read_calls(connection, "oolong"))
    shown = f"{read.detail} {[message.content for message in read.prompt or ()]}"
    assert "***, ***" in shown
    assert "a-secret" not in shown
    assert "sk-abc" not in shown


async def test_a_prompt_whose_texts_are_gone_is_absent(database: Database) -> None:
    await accept(database, replace(long_call(), battle_id="sencha"))
    await DatabaseCallLog(database).add([long_call()])  # its battle is not in the database
    [read] = await database.read(lambda connection: read_calls(connection, "oolong"))
    assert read.prompt is None


@pytest.mark.parametrize(("days", "left"), [(7, ["new"]), (0, [])])
async def test_old_calls_are_deleted_and_new_ones_kept(
    database: Database, days: int, left: list[str]
) -> None:
    log = DatabaseCallLog(database)
    old, new = LATER - timedelta(days=8), LATER - timedelta(days=6)
    await log.add([replace(long_call("old"), at=old)] * 3)
    await log.add([replace(long_call("new"), at=new)])
    retention = CallRetention(database, timedelta(days=days))
    assert await retention.sweep(LATER) == 4 - len(left)
    async with database.transaction() as tx:
        for table in (calls, call_prompts):
            assert (await tx.scalars(select(table.c.battle_id))).all() == left


async def test_answers_of_both_sides_are_found_in_the_battle(database: Database) -> None:
    submitted = sent("oolong")
    await Battles(database).accept(submitted.battle, encode(submitted), NOON)
    call = call_of(submitted, "Which?")
    await DatabaseCallLog(database).add([call])
    [read] = await database.read(lambda connection: read_calls(connection, "oolong"))
    content = (read.prompt or [])[1].content
    assert all(submitted.battle.answer(side).text in content for side in Side)
