"""The page of the API: Swagger UI from packaged files, and nothing from other sites."""

import re

from tests.integration.gateway.world import World


async def test_the_page_and_its_files_come_from_this_gateway_alone(world: World) -> None:
    answer = await world.http.get("/docs")
    assert answer.status_code == 200
    assert not re.search(r'(href|src)="(https?:)?//', answer.text)
    files = re.findall(r'(?:src|href)="(/static/[^"]+)"', answer.text)
    assert {"/static/docs.js", "/static/swagger/swagger-ui-bundle.js"} < set(files)
    assert {(await world.http.get(file)).status_code for file in files} == {200}
    assert '<form data-api="/v1/battles"' in answer.text
    policy = answer.headers["content-security-policy"]
    assert "script-src 'self'; style-src 'self'; img-src data: 'self';" in policy
    assert "data:" not in (await world.http.get("/")).headers["content-security-policy"]


async def test_the_page_leads_to_it(world: World) -> None:
    assert '<a href="/docs">API</a>' in (await world.http.get("/")).text
