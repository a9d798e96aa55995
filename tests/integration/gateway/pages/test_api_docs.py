"""The page of the API: every operation and object of the OpenAPI document, and nothing from other sites."""

import re
from html import unescape

from tests.integration.gateway.world import World


async def test_the_page_has_every_operation_parameter_and_object_of_the_document(world: World) -> None:
    document = (await world.http.get("/openapi.json")).json()
    answer = await world.http.get("/docs")
    page = unescape(answer.text)
    assert answer.status_code == 200
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            assert f'<strong class="method">{method.upper()}</strong> <code>{path}</code>' in page
            for parameter in described.get("parameters", ()):
                assert f"<code>{parameter['name']}</code>" in page
    assert set(re.findall(r'id="object-(\w+)"', page)) == set(document["components"]["schemas"])
    operations = re.findall(r'<strong class="method">(\w+)</strong> <code>([^<]+)</code>', page)
    assert operations[:4] == [
        ("POST", "/v1/battles"),
        ("GET", "/v1/battles/{battle_id}"),
        ("GET", "/v1/battles/{battle_id}/events"),
        ("POST", "/v1/battles/{battle_id}/vote"),
    ]
    assert re.findall(r'id="subject-\d+">(\w+)', page)[:3] == ["Battles", "Ratings", "Operations"]
    assert '<form data-api="/v1/battles"' in page
    links = set(re.findall(r'href="#([^"]+)"', page))
    assert links <= set(re.findall(r'id="([^"]+)"', page))
    assert 'Body: <code>application/json</code>, <a href="#object-VoteSubmission">' in page
    assert not re.search(r'(href|src)="(https?:)?//', page)
    assert re.findall(r"<script[^>]*>", page) == ['<script src="/static/send.js" defer>']
    ids = re.findall(r' id="([^"]+)"', page)
    assert len(ids) == len(set(ids))


async def test_the_page_leads_to_it(world: World) -> None:
    assert '<a href="/docs">API</a>' in (await world.http.get("/")).text
