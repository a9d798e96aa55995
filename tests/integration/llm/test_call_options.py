"""Temperature and effort of all calls of a client, and endpoints that do not accept them."""

from services.runtime.llm.cache import MemoryReplyCache
from services.runtime.llm.stage_models import StageModel
from tests.integration.llm.conftest import GOOD, Connect, Scripted, refused, said


async def test_effort_and_temperature_are_sent_and_are_part_of_the_name(connect: Connect) -> None:
    server = Scripted([said(GOOD)])
    ask = connect(server, options=StageModel(temperature="none", effort="low"))
    await ask()
    (request,) = server.requests
    assert (request["reasoning_effort"], request["model"]) == ("low", "scripted-1")
    assert "temperature" not in request
    assert ask.model.name == "scripted-1 (temperature none, effort low)"


async def test_other_options_are_asked_again_although_the_cache_is_shared(connect: Connect) -> None:
    cache, server = MemoryReplyCache(), Scripted([said(GOOD)])
    for options in (None, StageModel(temperature=0.5), StageModel(effort="high"), StageModel(effort="high")):
        await connect(server, cache=cache, options=options)()
    assert [request.get("temperature") for request in server.requests] == [0, 0.5, 0]
    assert [request.get("reasoning_effort") for request in server.requests] == [None, None, "high"]


async def test_an_endpoint_that_knows_no_effort_is_asked_without_it(connect: Connect) -> None:
    server = Scripted([refused(400, "Unrecognized request argument: reasoning_effort"), said(GOOD)])
    ask = connect(server, options=StageModel(effort="low"))
    assert (await ask()).value.labels
    assert ["reasoning_effort" in request for request in server.requests] == [True, False]
