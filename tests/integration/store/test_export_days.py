"""`nuggetstream export-days`: complete days as Parquet tables, which the queries of the manual read."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import update

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.event import BattleEvent
from nuggetstream.files.formats.day_tables import TABLES
from services.cli.main import main
from services.recorder.stage import Recorder
from services.store.battles.battles import Battles
from services.store.database import Database
from services.store.spend.spend import DatabaseSpendStore
from services.store.tables import battles
from tests.documents import blocks
from tests.integration.gateway.pages.test_operations import entry
from tests.integration.gateway.world import Story, battle

duckdb = pytest.importorskip("duckdb", reason="duckdb is not installed: nothing to query Parquet with")

FIRST, SECOND = datetime(2026, 5, 4, 23, 59, 59, tzinfo=UTC), datetime(2026, 5, 6, tzinfo=UTC)
QUERIES = [block.text for block in blocks("docs/formats.md") if block.language == "sql"]


async def nobody(*_: object) -> None:
    """Of the recorder's notifications."""


async def recorded(database: Database, received: datetime, story: Story, *events: BattleEvent) -> None:
    """Let a battle have been received at a time."""
    recorder = Recorder(Battles(database), nobody)
    for event in events:
        await recorder(event)
    async with database.transaction() as tx:
        is_battle = battles.c.id == story.battle.id
        await tx.execute(update(battles).where(is_battle).values(received_at=received))


async def exported(folder: Path | str, *arguments: str) -> list[str]:
    result = await asyncio.to_thread(CliRunner().invoke, main, ["export-days", str(folder), *arguments])
    assert result.exit_code == 0, result.output
    return str(result.output).splitlines()


def answers(folder: Path, query: str) -> Sequence[tuple[Any, ...]]:
    return sorted(duckdb.sql(query.replace("'days/", f"'{folder}/")).fetchall())


async def test_a_day_that_is_complete_is_written_once_and_answers_the_queries_of_the_manual(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUGGETSTREAM_DATABASE_URL", database.url)
    folder = tmp_path / "days"
    assert await exported(folder) == []
    told, other = Story(battle(arena="mine")), Story(battle(id="other", arena="elsewhere"))
    await recorded(database, FIRST, told, *told.told(), told.voted(Vote.B))
    await recorded(database, SECOND, other, other.submitted())
    today = Story(battle(id="today"))
    await recorded(database, datetime.now(UTC), today, today.submitted())
    spent = DatabaseSpendStore(database)
    await spent.add(entry("tides", amount="0.25", day=FIRST.date()))
    await spent.add(entry("tides", amount="0.5", day=FIRST.date() + timedelta(days=1)))

    first, costs, second = (folder / f"day=2026-05-0{day}" for day in (4, 5, 6))
    running = f"{second}: not written, because battle other has not ended"
    assert await exported(folder) == [f"{first}: 1 battle", f"{costs}: 0 battles", running]
    assert sorted(path.name for path in folder.iterdir()) == [first.name, costs.name]

    by_lens, vital, money = QUERIES
    assert answers(folder, by_lens) == [
        ("human", "b", 1), ("judge", "a", 1), ("nugget", "a", 1),
    ]  # fmt: skip
    assert answers(folder, vital) == [("atlas", 1, 3), ("birch", 2, 3)]
    day = FIRST.date()
    assert answers(folder, money) == [(day, "mine", 0.25), (day + timedelta(days=1), "mine", 0.5)]
    [row] = answers(folder, "SELECT id, tags, text_b, human_vote FROM 'days/day=*/battles.parquet'")
    assert row == ("tides", ["category:science"], told.battle.b.text, "b")
    [row] = answers(folder, "SELECT winner, flipped FROM 'days/day=*/judgments.parquet'")
    assert row == ("a", False)

    (costs / "spend.parquet").write_bytes(b"written before")
    await recorded(database, SECOND, other, *other.told())
    assert await exported(folder) == [f"{second}: 1 battle"]
    assert (costs / "spend.parquet").read_bytes() == b"written before"
    assert await exported(tmp_path / "mine", "--arena", "mine", "--since", "2026-05-05") == [
        f"{tmp_path / 'mine' / costs.name}: 0 battles"
    ]


async def test_what_a_stopped_run_left_is_no_day(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUGGETSTREAM_DATABASE_URL", database.url)
    await recorded(database, FIRST, Story(battle()), *Story(battle()).told())
    left = tmp_path / ".day=2026-05-04"
    left.mkdir()
    (left / "battles.rows").write_text("half a l")
    assert await exported(tmp_path) == [f"{tmp_path / 'day=2026-05-04'}: 1 battle"]
    assert [path.name for path in tmp_path.iterdir() if "day" in path.name] == ["day=2026-05-04"]
    assert answers(tmp_path, "SELECT count(*) FROM 'days/day=*/nuggets.parquet'") == [(4,)]


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A bucket `arena` of an S3-compatible server on loopback; a client for it."""
    server_of = pytest.importorskip(
        "moto.server", reason="moto is not installed: no object store to test with"
    )
    import boto3

    for name, value in {"ACCESS_KEY_ID": "id", "SECRET_ACCESS_KEY": "secret", "REGION": "eu-west-1"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    server = server_of.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        url = f"http://{host}:{port}"
        monkeypatch.setenv("AWS_ENDPOINT_URL", url)
        monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
        with closing(HTTPConnection(host, port)) as connection:  # servers of a process share buckets
            connection.request("POST", "/moto-api/reset")
            assert connection.getresponse().status == 200
        client = boto3.client("s3", endpoint_url=url, region_name="eu-west-1")
        client.create_bucket(Bucket="arena", CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
        yield client
    finally:
        server.stop()


async def test_a_day_is_sent_to_a_bucket_and_what_a_stopped_run_left_out_is_sent_by_the_next(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bucket: Any
) -> None:
    monkeypatch.setenv("NUGGETSTREAM_DATABASE_URL", database.url)
    told = Story(battle(arena="mine"))
    await recorded(database, FIRST, told, *told.told(), told.voted(Vote.B))
    assert await exported("s3://arena/days/") == ["s3://arena/days/day=2026-05-04: 1 battle"]
    assert await exported("s3://arena/days") == []

    def names() -> list[str]:
        listed = bucket.list_objects_v2(Bucket="arena")["Contents"]
        return [str(found["Key"]) for found in listed]

    tables = sorted(f"days/day=2026-05-04/{name}.parquet" for name in TABLES)
    assert names() == tables
    await exported(tmp_path / "days")
    copy = tmp_path / "copy" / "day=2026-05-04"
    copy.mkdir(parents=True)
    for name in tables:
        bucket.download_file("arena", name, str(copy / Path(name).name))
    by_lens, vital, _ = QUERIES
    assert answers(copy.parent, by_lens) == answers(tmp_path / "days", by_lens) != []
    assert answers(copy.parent, vital) == answers(tmp_path / "days", vital) != []

    for name in ("battles", "spend"):  # as if a run had ended in between
        bucket.delete_object(Bucket="arena", Key=f"days/day=2026-05-04/{name}.parquet")
    assert await exported("s3://arena/days") == ["s3://arena/days/day=2026-05-04: 1 battle"]
    assert names() == tables


async def test_a_store_that_does_not_answer_ends_the_command_with_one_sentence(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = Story(battle(arena="mine"))
    await recorded(database, FIRST, told, *told.told())
    values = {"ACCESS_KEY_ID": "id", "SECRET_ACCESS_KEY": "secret", "REGION": "eu-west-1"}
    values |= {"ENDPOINT_URL": "http://127.0.0.1:1", "ALLOW_HTTP": "true"}
    for name, value in values.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.setenv("NUGGETSTREAM_DATABASE_URL", database.url)
    result = await asyncio.to_thread(CliRunner().invoke, main, ["export-days", "s3://arena/days"])
    assert result.exit_code == 2
    [line] = result.output.splitlines()
    assert line.startswith(
        "Error: s3://arena/days/day=2026-05-04/battles.parquet: the store does not answer, or "
    )
