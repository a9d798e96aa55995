"""A study at its largest: 10,000 pairs, almost all of them judged by five workers."""

from datetime import timedelta
from time import perf_counter

import pytest

from nuggetstream.crowd.assignment import ItemKind, OpenItem
from nuggetstream.files.crowd_study import MOST_ITEMS
from services.gateway.studies.administration import StudyAdministration
from services.gateway.studies.questionnaire import Questionnaire
from services.store.database import Database
from services.store.studies.studied_battles import StudiedBattles
from services.store.studies.study_tables import study_tasks
from services.store.studies.study_tasks import StudyTasks
from tests.integration.store.conftest import database as database  # noqa: PLC0414 - fixtures
from tests.integration.store.test_studies import NOW, STUDY, added, worker

SYSTEMS, JUDGED = 60, 5
SECONDS = 10.0  # for one item, on a machine that has much else to do; a tenth of it elsewhere


@pytest.mark.slow
async def test_the_next_of_10000_pairs_is_found_at_once(database: Database) -> None:
    pairs = [(n % SYSTEMS, (n // SYSTEMS + n + 1) % SYSTEMS) for n in range(MOST_ITEMS)]
    items = [
        (f"battle{n}", OpenItem(n, ItemKind.PAIR, f"s{a:02}", f"s{b:02}", n % 3))
        for n, (a, b) in enumerate(pairs)
    ]
    store = await added(database, items)
    rows = [
        {
            "worker_id": f"w{judge}-{n // 15}",
            "item": n,
            "study_id": STUDY,
            "position": n % 15 + 1,
            "reversed": False,
            "given_at": NOW,
            "expires_at": NOW,
            "answered_at": NOW,
            "labels": {"quality_overall": "ab"[(a * 7 + b * judge) % 2]},
            "deciding": "ab"[(a * 7 + b * judge) % 2],
        }
        for n, (a, b) in enumerate(pairs[:-10])
        for judge in range(JUDGED)
    ]
    for start in range(0, len(rows), 1000):
        part = rows[start : start + 1000]
        await database.insert_rows(study_tasks, part)
    tasks = StudyTasks(database)
    administration = StudyAdministration(store, StudiedBattles(database), lambda: NOW + timedelta(hours=1))
    study = await store.get(STUDY)
    assert study is not None
    await tasks.begin(worker("ann"), 10_000)
    started = perf_counter()
    task = await Questionnaire(administration, tasks, administration.clock).task(study, worker("ann"))
    took = perf_counter() - started
    assert task is not None
    assert task.item >= MOST_ITEMS - 10  # what few have judged
    assert took < SECONDS
    progress = (await administration.view(study)).answered
    assert progress == len(rows)
    print(f"{database.engine.dialect.name}: {took:.2f} s")
