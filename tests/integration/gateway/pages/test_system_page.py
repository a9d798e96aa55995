"""The page of a system, and two systems compared."""

import re
from dataclasses import replace

from nuggetstream.domain.battle import Side, Vote
from nuggetstream.domain.nugget import Support
from tests.integration.gateway.world import LABELS, Story, World, battle, between

HOSTILE = "<script>\"'&x"


async def test_a_system_has_its_ratings_opponents_facts_and_battles(world: World) -> None:
    await world.happens(*Story(battle()).told(), Story(battle()).voted(Vote.B))
    for number in range(2):
        story = Story(between("atlas", "cedar", number))
        await world.happens(story.submitted(), story.voted(Vote.A if number else Vote.TIE))
    page = (await world.http.get("/system?arena=demo&name=atlas")).text
    assert "What it states and misses <small" in page
    counts = re.findall(r"<dt>([^<]+)</dt><dd>(\d+)", page)
    assert dict(counts)["Vital facts stated"] == "2"
    assert dict(counts)["Vital facts missed"] == "1"
    missed = page[page.index('id="missed-1"') : page.index('id="alone-1"')]
    assert 'href="/battles/tides#nugget-3"' in missed
    alone = page[page.index('id="alone-1"') : page.index("</article>")]
    assert "The Earth turns beneath the bulges." in alone
    opponents = re.findall(
        r'against=(\w+)" dir="auto">\w+</a></th>\s*<td class="number"><strong>(\d+)%', page
    )
    assert dict(opponents) == {"birch": "0", "cedar": "75"}
    birch = (await world.http.get("/system?arena=demo&name=birch")).text
    assert re.findall(
        r'against=atlas" dir="auto">atlas</a></th>\s*<td class="number"><strong>(\d+)%', birch
    ) == ["100"]
    assert page.count('id="battle-') == 3


async def test_two_systems_are_compared_on_their_common_battles(world: World) -> None:
    await world.happens(*Story(battle()).told())
    await world.happens(Story(between("atlas", "cedar", 1)).submitted())
    page = (await world.http.get("/system?arena=demo&name=atlas&against=birch")).text
    assert page.count('id="battle-') == 1
    assert re.findall(r'<article class="card" aria-label="(\w+)">', page) == ["atlas", "birch"]
    shares = re.findall(r"<strong>(\d+)%</strong>", page)
    assert shares == ["100", "100"]  # nuggets and judge prefer A, and nobody has voted
    assert (
        "No battle between these systems"
        in (await world.http.get("/system?arena=demo&name=atlas&against=elm")).text
    )
    assert (await world.http.get("/system?arena=demo")).status_code == 422


async def test_names_stay_text(world: World) -> None:
    answer = {"system": HOSTILE, "text": "x"}
    await world.happens(*Story(battle(arena=HOSTILE, a=answer)).told())
    page = (await world.http.get("/system", params={"arena": HOSTILE, "name": HOSTILE})).text
    assert page.count("<script") == 0
    assert "&lt;script&gt;" in page


async def test_strengths_are_the_shares_per_category_and_language_of_all_battles(world: World) -> None:
    for number, vote in enumerate((Vote.A, Vote.TIE, Vote.B)):
        tagged = replace(between("atlas", "cedar", number), language="de", tags=("category:art", "seen"))
        story = Story(tagged)
        await world.happens(story.submitted(), story.voted(vote))
    story = Story(replace(between("cedar", "atlas", 3), language="fr", tags=("category:law",)))
    await world.happens(story.submitted(), story.voted(Vote.B))
    page = (await world.http.get("/system?arena=demo&name=atlas")).text
    table = page[page.index('id="strengths"') : page.index('id="trends"')]
    rows = re.findall(r"<bdi>(\w+)</bdi>.*?<strong>(\d+)%</strong>\s*<small[^>]*>(\d+) battle", table, re.S)
    assert rows == [("art", "50", "3"), ("law", "100", "1"), ("de", "50", "3"), ("fr", "100", "1")]
    [link] = re.findall(r'href="([^"]*category%3Aart)"', table)
    found = (await world.http.get(link.replace("&amp;", "&"))).text
    assert found.count('id="battle-') == 3


async def test_a_system_over_time_has_its_rating_and_share_of_each_month(world: World) -> None:
    for number, vote in enumerate((Vote.A, Vote.A, Vote.B)):
        story = Story(between("atlas", "cedar", number))
        await world.happens(story.submitted(), story.voted(vote))
    page = (await world.http.get("/system?arena=demo&name=atlas")).text
    trends = page[page.index('id="trends"') : page.index('id="facts"')]
    assert re.findall(r"([\d.]+)% of the points · (\d+) battle", trends) == [("67", "3")]
    assert "<circle" not in trends  # a chart of one month says nothing
    assert 'class="number"><span class="faint">no battle' in trends
    by_week = (await world.http.get("/system?arena=demo&name=atlas&every=week")).text
    assert "Every week is rated on its own battles" in by_week
    assert (await world.http.get("/system?arena=demo&name=atlas&every=year")).status_code == 422


async def test_a_fact_missed_in_several_battles_is_one_of_its_typical_misses(world: World) -> None:
    for name in ("tides", "again"):
        await world.happens(*Story(battle(id=name)).told())
    page = (await world.http.get("/system?arena=demo&name=birch")).text
    missed = page[page.index('id="missed-1"') : page.index("</article>")]
    assert missed.count("in 2 battles") == 2  # of the two vital nuggets that birch misses, each once
    assert re.findall(r'<dt dir="auto">(\w+)</dt><dd>(\d+) of (\d+)', page) == [("science", "4", "6")]


async def test_a_contradicted_fact_is_counted_and_named(world: World) -> None:
    told = Story(battle()).told()
    wrong = tuple(
        replace(each, support=Support.CONTRADICTION)
        if (each.nugget_id, each.side) == ("n1", Side.A)
        else each
        for each in LABELS
    )
    told[5] = Story(battle()).assigned(wrong)
    await world.happens(*told)
    page = (await world.http.get("/system?arena=demo&name=atlas")).text
    assert "Vital facts contradicted" in page


async def test_facts_are_of_many_more_battles_than_the_table_lists(world: World) -> None:
    for number in range(33):
        await world.happens(*Story(battle(id=f"b{number}")).told())
    page = (await world.http.get("/system?arena=demo&name=birch")).text
    assert 'What it states and misses <small class="faint">in 33 battles' in page
    assert "From the labels of 33 battles." in page
    assert page.count('id="battle-') == 30
    assert 'system=birch">All battles of' in page
    missed = page[page.index('id="missed-1"') : page.index("</article>")]
    assert missed.count("in 33 battles") == 2
    assert 'href="/battles/b32#nugget-2"' in missed  # the newest


async def test_labels_that_come_later_are_counted(world: World) -> None:
    told = Story(battle()).told()
    await world.happens(*told[:5])
    before = (await world.http.get("/system?arena=demo&name=atlas")).text
    assert "No battle has labels yet." in before
    await world.happens(*told[5:])
    after = (await world.http.get("/system?arena=demo&name=atlas")).text
    assert "From the labels of 1 battle." in after
    first = Story(battle()).assigned()
    all_missed = tuple(replace(each, support=Support.NOT_SUPPORT, quote="") for each in LABELS)
    again = replace(first, key="again", assignment_set=replace(first.assignment_set, assignments=all_missed))
    await world.happens(again)
    last = (await world.http.get("/system?arena=demo&name=atlas")).text
    assert dict(re.findall(r"<dt>([^<]+)</dt><dd>(\d+)", last))["Vital facts missed"] == "3"
