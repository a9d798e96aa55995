"""The web pages as they leave the server: complete, escaped, and protected."""

import html
import re
import shlex
from dataclasses import replace

from nuggetstream.domain.battle import Vote
from nuggetstream.domain.event import BattleSubmitted
from nuggetstream.domain.failure import Reason
from nuggetstream.domain.nugget import Importance, Nugget, Provenance
from nuggetstream.domain.pipeline import Stage
from tests.integration.gateway.world import NUGGETS, Story, World, battle, between, submission

HOSTILE = '<script>document.title="owned"</script><img src=x onerror=alert(1)>"\'&'


def turn(role: str, text: str) -> dict[str, str]:
    return {"role": role, "text": text}


def hostile() -> Story:
    """A battle in which everything from outside tries to be markup."""
    sources = [
        {"url": "javascript:alert(1)", "title": HOSTILE, "snippet": HOSTILE},
        {"url": 'https://example.org/"onmouseover="x', "title": HOSTILE},
    ]
    answers = {
        side: {"system": f"{HOSTILE}{side}", "text": f"{HOSTILE} {side}", "sources": sources} for side in "ab"
    }
    for side, answer in answers.items():
        answer["conversation"] = [turn("user", HOSTILE), turn("assistant", f"{HOSTILE} {side} earlier")]
    changes = {"arena": HOSTILE, "query": HOSTILE, "language": '"><script>', "tags": [HOSTILE]}
    return Story(battle(id=HOSTILE, **changes, **answers))


async def test_nothing_from_outside_becomes_markup(world: World) -> None:
    story = hostile()
    nuggets = (Nugget("n1", HOSTILE, Importance.VITAL, (Provenance(HOSTILE, url="javascript:alert(2)"),)),)
    early = story.told()[:4]
    told = [*early, story.nuggetized(nuggets), story.judged()]
    await world.happens(*told, story.voted(), story.failed(Stage.ASSIGNER))
    listed = (await world.http.get("/")).text
    path = re.search(r'href="(/battles/[^"]+)"', listed)
    assert path is not None
    shown = await world.http.get(path[1])
    board = await world.http.get("/leaderboard", params={"arena": HOSTILE})
    assert (shown.status_code, board.status_code) == (200, 200)
    for page in (listed, shown.text, board.text):
        assert "&lt;script&gt;" in page
        assert not re.search(
            r"<script(?! src=\"/static/(?:battle|follow|live|feed|send)\.js\""
            r"(?: data-events=\"[a-z ]+\")? defer>)"
            r"|<img (?!src=\"/static)",
            page,
        )
        unquoted = re.sub(r'="[^"]*"', "", page)  # what stands between quotes is text, whatever it looks like
        assert not re.search(r"<[^>]*\son\w+", unquoted)
        assert not re.search(r'(href|src)="(?!/|#|https://example\.org/)', page)


async def test_earlier_turns_stand_folded_above_the_answers_of_the_systems_that_had_them(
    world: World,
) -> None:
    turns = [turn("user", "متى المد؟"), turn("assistant", "It depends.")]
    long = [turn("user", "x" * 7_000), turn("assistant", "y" * 6_000)]
    await world.happens(*Story(battle(conversation=[*long, *turns])).told())
    page = (await world.http.get("/battles/tides")).text
    folded = page[page.index('<details class="turns" id="turns">') : page.index('<div class="pair">')]
    assert "<summary>Earlier in the conversation: 4 messages</summary>" in folded
    assert "the first message of the user is left out of prompts" in folded
    assert '<div class="text" lang="en" dir="auto">متى المد؟</div>' in folded
    other = [turns[0], turn("assistant", "Twice a day.")]
    a, b = submission()["a"] | {"conversation": turns}, submission()["b"] | {"conversation": other}
    await world.happens(*Story(battle(id="own", a=a, b=b)).told())
    page = (await world.http.get("/battles/own")).text
    assert page.index("It depends.") < page.index('id="answer-b"') < page.index("Twice a day.")
    assert "left out of prompts" not in page
    assert "Earlier in" not in (await world.http.get("/")).text


async def test_every_answer_carries_the_protective_headers(world: World) -> None:
    for path in ("/", "/v1/battles", "/static/style.css", "/battles/nobody"):
        headers = (await world.http.get(path)).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"


async def test_untrusted_links_tell_nobody_where_they_were_followed(world: World) -> None:
    await world.happens(*Story(battle()).told())
    page = (await world.http.get("/battles/tides")).text
    outward = re.findall(r'<a href="https?://[^>]+>', page)
    assert outward
    assert all('rel="noopener noreferrer nofollow"' in link for link in outward)


async def test_a_battle_page_works_at_every_step_of_the_way(world: World) -> None:
    for event in Story(battle()).told():
        await world.happens(event)
        assert (await world.http.get("/battles/tides")).status_code == 200
    page = (await world.http.get("/battles/tides")).text
    assert "What decided it" in page
    assert page.count("<h1") == 1


async def test_a_page_for_nobody_is_a_page(world: World) -> None:
    response = await world.http.get("/battles/nobody")
    assert response.status_code == 404
    assert "<h1>Not Found</h1>" in response.text


async def test_empty_pages_say_so(world: World) -> None:
    assert "No battles yet" in (await world.http.get("/")).text
    assert "No battle has been sent to this arena." in (await world.http.get("/leaderboard")).text
    await world.happens(Story(battle()).submitted())
    assert (await world.http.get("/leaderboard")).text.count("No system can be ranked yet.") == 3


async def test_the_command_on_the_empty_page_sends_the_first_battle(world: World) -> None:
    page = (await world.http.get("/")).text
    command = re.search(r"<pre class=\"command\"><code>(.*?)</code></pre>", page, re.DOTALL)
    assert command is not None
    curl, url, _, header, _, body = shlex.split(html.unescape(command[1]))
    assert curl == "curl"
    response = await world.http.post(url, content=body, headers=dict([header.split(": ")]))
    assert response.status_code == 202
    assert "Why is the sky blue?" in (await world.http.get("/")).text


async def test_every_link_of_the_site_keeps_the_arena(world: World) -> None:
    await world.happens(*Story(battle(arena="my arena&x")).told())
    for path in ("/?arena=my+arena%26x", "/battles/tides", "/leaderboard?arena=my+arena%26x"):
        header = (await world.http.get(path)).text.split("</header>")[0]
        links = re.findall(r'<a (?:class="brand" )?href="(/[^"]*)"', header)
        inside = "?arena=my%20arena%26x"
        assert links == [f"/{page}{inside}" for page in ("", "", "leaderboard", "inversions")], path
    assert 'href="/leaderboard"' in (await world.http.get("/")).text  # no arena was chosen


async def test_links_within_pages_keep_the_arena_too(world: World) -> None:
    await world.happens(*Story(battle(arena="my arena&x")).told())
    await world.happens(*Story(battle(id="other")).told())
    inside = "arena=my+arena%26x"
    for path in (
        f"/?{inside}&search=tides",
        "/battles/tides",
        f"/leaderboard?{inside}",
        f"/leaderboard/table?{inside}&language=en",
        f"/leaderboard/style?{inside}",
        f"/leaderboard/timeline?{inside}",
        f"/system?{inside}&name=atlas",
        f"/system?{inside}&name=atlas&against=birch",
        f"/inversions?{inside}",
        f"/arenas?{inside}",
        f"/canary?{inside}",
        f"/docs?{inside}",
        f"/failures?{inside}",
        f"/operations?{inside}",
    ):
        page = (await world.http.get(path)).text
        links = re.findall(r'<a [^>]*?href="(/[^"]*)"[^>]*>\s*(.*?)</a>', page, re.S)
        assert len(links) > 6, path
        left = [
            (link, text)
            for link, text in links
            if not re.match(r"/battles/|/openapi.json", link)
            and not re.search(r"arena=(my(\+|%20)arena%26x|demo)(&amp;|$|#)", link)
            and not text.startswith("All arenas")
        ]
        assert left == [], path


async def test_pages_of_errors_keep_the_arena_that_was_asked_for(world: World) -> None:
    page = {"accept": "text/html"}
    for path, status in (
        ("/leaderboard?arena=my+arena%26x&ties=never", 422),
        ("/battles/none?arena=my+arena%26x", 404),
        ("/nothing?arena=my+arena%26x", 404),
    ):
        response = await world.http.get(path, headers=page)
        links = re.findall(r'<a (?:class="brand" )?href="(/[^"]*)"', response.text)
        assert (response.status_code, len(links) > 6) == (status, True), path
        assert {link.partition("?")[2] for link in links} == {"arena=my%20arena%26x"}, path
    for asked in ("", "?arena=a&arena=b", "?arena=" + 201 * "x", "?arena=%ff"):
        text = (await world.http.get(f"/nothing{asked}", headers=page)).text
        assert ('href="/leaderboard"' in text) == (asked != "?arena=%ff"), asked


async def test_a_nugget_is_shown_without_the_markdown_marks_at_its_start(world: World) -> None:
    marked = (Nugget("n1", "> - Two bulges rise.", Importance.VITAL, (Provenance("answer:a"),)), *NUGGETS[1:])
    told = Story(battle()).told()
    nugget_list = replace(told[4].nugget_list, nuggets=marked)
    told[4], told[5] = (replace(event, nugget_list=nugget_list) for event in told[4:6])
    await world.happens(*told)
    page = (await world.http.get("/battles/tides")).text
    page = page.partition('id="nugget-form"')[0]  # the form shows the text as it is
    assert 'lang="en" dir="auto">Two bulges rise.</span></summary>' in page
    assert '“<bdi lang="en">Two bulges rise.</bdi>”' in page
    assert "&gt; -" not in page


async def test_formulas_are_typeset_in_nuggets_reasons_and_what_the_judge_says(world: World) -> None:
    formula = (replace(NUGGETS[0], text="The force is $F<ma$ at 5 $."), *NUGGETS[1:])
    told = Story(battle()).told()
    nugget_list = replace(told[4].nugget_list, nuggets=formula)
    told[4], told[5] = (replace(event, nugget_list=nugget_list) for event in told[4:6])
    judged = Story(battle()).judged()
    [first, *others] = judged.judgment.verdicts
    verdicts = (replace(first, reasoning="Only A has $F<ma$."), *others)
    await world.happens(*told[:6], replace(judged, judgment=replace(judged.judgment, verdicts=verdicts)))
    page = re.sub(r"<textarea.*?</textarea>", "", (await world.http.get("/battles/tides")).text, flags=re.S)
    typeset = "<mi>F</mi><mo>&lt;</mo>"
    assert re.search(rf'<summary>[^\n]*The force is <span class="math" dir="ltr"><math>.*{typeset}', page)
    assert re.search(rf"<bdi[^\n]*{typeset}.* at 5 \$\.</bdi>", page)
    assert re.search(rf"<p dir=\"auto\">Only A has .*{typeset}", page)
    assert "$F" not in page


async def test_formulas_are_typeset_in_questions(world: World) -> None:
    await world.happens(*Story(battle(query="Why is $F<ma$ wrong?")).told())
    for path in ("/", "/battles/tides", "/battles/tides/calls", "/embed/battles/tides"):
        page = (await world.http.get(path)).text
        assert 'Why is <span class="math" dir="ltr"><math>' in page, path


async def test_supplied_texts_are_named_so_and_not_by_their_made_up_urls(world: World) -> None:
    a = submission()["a"] | {"sources": [{"text": "Two bulges of water rise."}]}
    await world.http.post("/v1/battles", json=submission(a=a))
    [event] = [one for one in await world.published() if isinstance(one, BattleSubmitted)]
    await world.happens(event)
    page = (await world.http.get("/battles/tides")).text
    assert '<span dir="auto">Supplied text</span>' in page
    assert "inline:" not in page


async def test_the_detail_of_a_failure_is_shown_once(world: World) -> None:
    story = Story(battle())
    both = (story.failed(Stage.NUGGETIZER), story.failed(Stage.JUDGE))
    await world.happens(*story.told()[:4], *both, story.failed(Stage.ASSIGNER, Reason.DEADLINE))
    page = (await world.http.get("/battles/tides")).text
    failures = page[page.index('<h2 id="failures"') :].partition("</section>")[0]
    assert page.count("The model did not answer.") == failures.count("The model did not answer.") == 2
    assert "<strong>Extract, Judge failed:</strong> the model was away, 3 attempts." in failures
    assert "<strong>Label failed:</strong> it took too long, 3 attempts." in failures
    assert failures.count("<button>Retry</button>") == 1
    assert "is likely to end in the same way" not in failures
    assert 'the judge, because the model was away. <a href="#failures">See what failed.</a>' in page


async def test_that_there_is_nothing_to_score_is_no_failure_and_nothing_to_retry(world: World) -> None:
    story = Story(battle())
    await world.happens(*story.told()[:4], story.failed(Stage.NUGGETIZER, Reason.NOTHING_TO_SCORE))
    page = (await world.http.get("/battles/tides")).text
    assert '<h2 id="failures">Why there is no score</h2>' in page
    assert "Extract failed" not in page
    assert "<button>Retry</button>" not in page
    listed = (await world.http.get("/failures")).text
    assert 'name="discard"' in listed
    assert 'name="retry"' not in listed


async def test_a_stage_that_fails_again_after_a_retry_is_one_failure(world: World) -> None:
    story = Story(battle())
    again = replace(story.failed(Stage.NUGGETIZER, Reason.BUDGET_EXCEEDED), key="again")
    await world.happens(*story.told()[:4], story.judged(), story.failed(Stage.NUGGETIZER), again)
    page = (await world.http.get("/battles/tides")).text
    assert page.count("<strong>Extract failed:</strong> the budget was spent") == 1
    assert page.count("There are no nugget scores: ") == 1
    assert "the model was away" not in page


async def test_an_arena_nobody_heard_of_is_not_three_empty_boards(world: World) -> None:
    await world.happens(Story(battle()).submitted())
    page = await world.http.get("/leaderboard?arena=zz")
    assert page.status_code == 200
    assert "No battle has been sent to this arena." in page.text
    assert 'class="card board"' not in page.text
    assert '<a href="/leaderboard?arena=demo"' in page.text  # how to get to one that has
    assert "No battle has been sent" not in (await world.http.get("/leaderboard?arena=demo")).text


async def test_a_single_chunk_is_not_counted_in_the_plural(world: World) -> None:
    story = Story(battle())
    await world.happens(story.submitted(), story.scraped(), story.indexed())
    both = story.retrieved()
    await world.happens(replace(both, evidence=both.evidence[:1]))
    assert '<small class="faint">1 chunk</small>' in (await world.http.get("/battles/tides")).text


async def test_an_interval_below_zero_has_minus_signs_and_no_dash(world: World) -> None:
    await circle(world)
    page = (await world.http.get("/leaderboard?arena=demo&lens=human&anchor=x:-500&intervals=sandwich")).text
    assert "is fixed at −500" in page
    shown = re.findall(r"</strong><small class=\"faint\">([^<]*)</small>", page)
    assert len(shown) == 3
    assert sum(interval == "anchor" for interval in shown) == 1
    assert all(re.fullmatch(r"−\d+ to −?\d+|anchor", interval) for interval in shown)
    assert page.count("<strong>−500</strong>") == 3


async def test_the_leaderboard_shows_why_a_system_has_no_rank(world: World) -> None:
    for pair in (("x", "y"), ("y", "x"), ("z", "x")):
        story = Story(between(*pair, 0))
        await world.happens(story.submitted(), story.voted(Vote.A))
    page = (await world.http.get("/leaderboard?arena=demo")).text
    assert "never lost or tied" in page
    assert re.search(r"<strong>3</strong> of 3 battles scored", page)


async def circle(world: World) -> None:
    for pair in (("x", "y"), ("y", "z"), ("z", "x")):
        story = Story(between(*pair, 0))
        await world.happens(story.submitted(), story.voted(Vote.A))


async def test_the_leaderboard_is_rated_as_its_form_asks(world: World) -> None:
    await circle(world)
    plain = (await world.http.get("/leaderboard?arena=demo")).text
    assert "ties: half a win for each; 95% intervals from" in plain
    assert "robust standard errors, corrected for few battles" in plain
    assert "at most one in twenty boards of equal systems tells any two of them apart" in plain
    assert "Start over" not in plain
    # As a browser sends a form: every field, most of them empty.
    form = {
        "arena": "demo",
        "ties": "drop",
        "language": "",
        "tag": "category:science",
        "since": "",
        "until": "",
    }
    asked = (await world.http.get("/leaderboard", params=form)).text
    assert "ties: left out;" in asked
    assert '<option value="drop" selected>' in asked
    assert 'name="tag" value="category:science"' in asked
    assert re.search(r"<strong>3</strong> of 3 battles scored", asked)
    assert "Start over" in asked
    none = (await world.http.get("/leaderboard?arena=demo&language=tlh")).text
    assert re.search(r"<strong>0</strong> of 0 battles scored", none)
    assert "No battle has an outcome here." in none


async def test_the_form_keeps_what_it_has_no_field_for(world: World) -> None:
    await circle(world)
    page = (await world.http.get("/leaderboard?arena=demo&lens=human&intervals=sandwich&anchor=x:1114")).text
    for name, value in (("lens", "human"), ("intervals", "sandwich"), ("anchor", "x:1114")):
        assert f'<input type="hidden" name="{name}" value="{value}">' in page
    assert "robust standard errors" in page
    assert "is fixed at 1114" in page
    assert page.count('class="card board"') == 1


async def test_intervals_without_ends_are_drawn_and_named_as_such(world: World) -> None:
    for one, other, number in (("x", "y", 0), ("y", "x", 0), ("x", "y", 1)):
        story = Story(between(one, other, number))
        await world.happens(story.submitted(), story.voted(Vote.A))
    open_ended = (await world.http.get("/leaderboard?arena=demo&lens=human&bootstrap=multinomial")).text
    assert "unbounded" in open_ended
    assert '<rect x="0" width="100"' in open_ended
    assert "could not be ranked" in open_ended


async def test_a_board_of_ties_draws_no_interval(world: World) -> None:
    story = Story(between("x", "y", 0))
    await world.happens(story.submitted(), story.voted(Vote.TIE))
    page = (await world.http.get("/leaderboard?arena=demo&lens=human")).text
    assert "<rect" not in page
    assert "their precision unknown" in page


async def test_a_question_that_makes_no_sense_is_a_page_that_says_why(world: World) -> None:
    await circle(world)
    for query, problem in (
        ("ties=third", "ties: Input should be"),
        ("colour=red", "colour: is not a parameter of this request"),
        ("anchor=ghost:1", "anchor: on the human board &#39;ghost&#39; has no battle here"),
    ):
        response = await world.http.get(f"/leaderboard?arena=demo&{query}")
        assert response.status_code == 422
        assert response.headers["content-type"].startswith("text/html")
        assert problem in response.text


async def test_a_battle_still_running_brings_its_script(world: World) -> None:
    await world.http.post("/v1/battles", json=submission())
    page = (await world.http.get("/battles/tides")).text
    for script in ("follow", "live"):
        assert re.search(
            rf'<script src="/static/{script}\.js"(?: data-events="[a-z ]+")? defer></script>', page
        )
        headers = (await world.http.get(f"/static/{script}.js")).headers
        assert headers["content-type"].startswith("text/javascript")
