"""How many bytes a battle takes in the database, by table and by event.

    python -m benchmarks.storage [--battles N]

Evaluates battles of about 12 kB, with ten given sources each, by the offline model and without embedding, and
adds up the bytes in the columns of every table. The size of the file has indexes and free space in it, too.
The log of model calls is deleted after some days, so it is shown apart and does not count for the goal.
"""

import argparse
import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

GOAL = 25_000  # bytes per battle
LOG = ("calls", "call_prompts", "call_texts")
_DOCS = Path(__file__).parents[1] / "docs"


def write_battles(path: Path, count: int, seed: int = 7) -> None:
    """Battles of words drawn from our documentation, so that they compress about as badly as prose does."""
    rng = random.Random(seed)
    words = " ".join(file.read_text(encoding="utf-8") for file in sorted(_DOCS.glob("*.md"))).split()

    def text(sentences: int) -> str:
        return " ".join(" ".join(rng.choices(words, k=12)).capitalize() + "." for _ in range(sentences))

    def answer(battle: int, side: str) -> dict[str, Any]:
        urls = [f"https://{side}{battle}-{number}.example/" for number in range(5)]
        sources = [{"url": url, "title": text(1)[:40], "text": text(11)} for url in urls]
        return {"system": f"{side}{battle % 5}", "text": text(9), "sources": sources}

    with path.open("w", encoding="utf-8") as file:
        for battle in range(count):
            row = {"query": text(1), "a": answer(battle, "a"), "b": answer(battle, "b"), "vote": "a"}
            file.write(json.dumps(row) + "\n")


def evaluate(battles: Path, folder: Path) -> Path:
    """Evaluate a file in a process of its own; the path of its database."""
    command = [sys.executable, "-m", "services.cli.main", "eval", str(battles), "--out", str(folder)]
    ours = {name: value for name, value in os.environ.items() if not name.startswith("NUGGETSTREAM_")}
    # As on a platform, where battles share no nugget lists by default.
    settings = {"NUGGETSTREAM_EMBEDDING_MODEL": "none", "NUGGETSTREAM_NUGGET_BANK_HOURS": "0"}
    subprocess.run(command, env=ours | settings, check=True, capture_output=True)
    (path,) = (folder / "state").glob("*.db")
    return path


def bytes_per_table(connection: sqlite3.Connection) -> dict[str, int]:
    """The bytes in the columns of each table that has any rows."""
    tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    sizes = {}
    for table in tables:
        columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
        lengths = " + ".join(f'coalesce(length(CAST("{column}" AS BLOB)), 0)' for column in columns)
        total = connection.execute(f'SELECT sum({lengths}) FROM "{table}"').fetchone()[0]
        if total:
            sizes[table] = int(total)
    return dict(sorted(sizes.items(), key=lambda item: -item[1]))


def bytes_per_event(connection: sqlite3.Connection) -> dict[str, int]:
    """The bytes of the bodies of each event."""
    query = "SELECT name, sum(length(body)) FROM events GROUP BY name ORDER BY 2 DESC"
    return dict(connection.execute(query).fetchall())


def main(count: int) -> None:
    """Evaluate and print."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_battles(folder / "battles.jsonl", count)
        lines = (folder / "battles.jsonl").read_text(encoding="utf-8").splitlines()
        sent = sum(len(json.dumps(json.loads(line)).encode()) for line in lines) / count
        path = evaluate(folder / "battles.jsonl", folder / "out")
        with sqlite3.connect(path) as connection:
            tables, events = bytes_per_table(connection), bytes_per_event(connection)
            connection.execute("VACUUM")
        total, file = sum(tables.values()) / count, path.stat().st_size / count
    print(f"{count} battles of {sent:,.0f} bytes: bytes per battle")
    for title, sizes in (("table", tables), ("event", events)):
        print(f"\n{title:<20}{'bytes':>10}")
        for key, size in sizes.items():
            print(f"{key:<20}{size / count:>10,.0f}")
    logged = sum(tables.get(name, 0) for name in LOG) / count
    kept = total - logged
    print(f"\n{'log of calls':<20}{logged:>10,.0f}   for NUGGETSTREAM_CALL_LOG_DAYS")
    print(f"{'everything else':<20}{kept:>10,.0f}   goal {GOAL:,}: {'met' if kept <= GOAL else 'missed'}")
    print(f"{'file with indexes':<20}{file:>10,.0f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--battles", type=int, default=60)
    main(parser.parse_args().battles)
