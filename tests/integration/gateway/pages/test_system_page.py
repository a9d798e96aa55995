"""The page of a system, and two systems compared."""

import math
import re
from dataclasses import replace

import pytest

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
        r'against=(\w+)" dir="auto">\w+</a></th>\s*<td class="number"[^>]*><strong>(\d+)%', page
    )
    assert dict(opponents) == {"birch": "0", "cedar": "75"}
    birch = (await world.http.get("/system?arena=demo&name=birch")).text
    assert re.findall(
        r'against=atlas" dir="auto">atlas</a></th>\s*<td class="number"[^>]*><strong>(\d+)%', birch
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
    assert "Nothing can be predicted: no lens rates both systems." in page  # atlas was never beaten
    unknown = (await world.http.get("/system?arena=demo&name=atlas&against=elm")).text
    assert 'No battle of <span dir="auto">elm</span> in this arena.' in unknown
    assert 'id="ratings"' not in unknown
    assert (await world.http.get("/system?arena=demo")).status_code == 422


async def test_where_a_lens_has_no_outcome_the_pages_do_not_say_that_there_is_no_battle(world: World) -> None:
    await world.happens(*Story(battle()).told())
    voted = Story(between("cedar", "elm", 1))
    await world.happens(voted.submitted(), voted.voted())

    async def said(path: str) -> set[str]:
        page = (await world.http.get(path)).text
        return set(re.findall(r'<span class="faint">(no (?:battle|vote|verdict|outcome))</span>', page))

    assert await said("/system?arena=demo&name=atlas") == {"no vote"}
    assert await said("/system?arena=demo&name=atlas&against=birch") == {"no vote"}
    assert await said("/system?arena=demo&name=cedar") == {"no verdict", "no outcome"}
    assert await said("/leaderboard/table?arena=demo") == {"no vote", "no verdict", "no outcome"}


async def chain(world: World) -> None:
    """Atlas beats birch three times of four, and birch cedar; atlas and cedar never meet."""
    for a, b in (("atlas", "birch"), ("birch", "cedar")):
        for number in range(12):
            story = Story(between(a, b, number))
            await world.happens(story.submitted(), story.voted(Vote.A if number % 4 else Vote.B))


async def test_systems_that_never_met_have_ratings_a_prediction_and_facts(world: World) -> None:
    await chain(world)
    await world.happens(*Story(battle()).told())
    page = (await world.http.get("/system?arena=demo&name=atlas&against=cedar")).text
    assert "never met in this arena: there is no battle between them." in page
    ratings = page[page.index('id="ratings"') : page.index('id="prediction"')]
    rated = re.findall(
        r'<th scope="row"><span dir="auto">(\w+)</span></th>\s*<td class="number"[^>]*><strong>(\d+)', ratings
    )
    assert [name for name, _ in rated] == ["atlas", "cedar"]
    assert int(rated[0][1]) - int(rated[1][1]) == pytest.approx(2 * 400 * math.log10(3), abs=1.5)
    prediction = page[page.index('id="prediction"') : page.index('id="facts"')]
    [(chance, low, high)] = re.findall(
        r"<strong>(\d+)%</strong>\s*<small[^>]*>\W*(\d+)% to \W*(\d+)%", prediction
    )
    assert chance == "90"  # odds of 3 to 1, twice
    assert int(low) < 90 < int(high)
    assert prediction.count("not both rated") == 2  # by nuggets and the judge
    assert re.findall(r'<article class="card" aria-label="(\w+)">', page) == ["atlas", "cedar"]
    assert page.count("From the labels of 1 battle.") == 1
    assert 'id="battles"' not in page
    turned = (await world.http.get("/system?arena=demo&name=cedar&against=atlas")).text
    again = re.findall(r"<strong>(\d+)%</strong>\s*<small[^>]*>\W*(\d+)% to \W*(\d+)%", turned)
    assert again == [("10", str(100 - int(high)), str(100 - int(low)))]


async def test_systems_that_met_have_a_prediction_beside_what_each_took(world: World) -> None:
    await chain(world)
    page = (await world.http.get("/system?arena=demo&name=birch&against=atlas")).text
    assert "never met" not in page
    assert re.findall(r"<strong>(\d+)%</strong>", page) == ["25", "25"]
    assert page.count('id="battle-') == 12


async def test_a_form_chooses_the_system_to_compare_with(world: World) -> None:
    await chain(world)
    page = (await world.http.get("/system?arena=demo&name=birch")).text
    form = page[page.index('<form class="ask" action="/system" method="get"') : page.index("</form>")]
    fields = dict(re.findall(r'<input type="hidden" name="(\w+)" value="(\w+)">', form))
    assert fields == {"arena": "demo", "name": "birch"}
    assert re.findall(r'<option value="(\w*)"', form) == ["", "atlas", "cedar"]
    query = "&".join(f"{name}={value}" for name, value in (fields | {"against": "cedar"}).items())
    compared = (await world.http.get(f"/system?{query}")).text
    assert compared.count('id="battle-') == 12
    assert re.findall(r'<option value="(\w+)" dir="auto" selected>', compared) == ["cedar"]
    itself = (await world.http.get("/system?arena=demo&name=birch&against=birch")).text
    assert 'id="trends"' in itself
    assert itself.count('id="battle-') == 24


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
    assert 'data-label="Nuggets"><span class="faint">no outcome' in trends
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
