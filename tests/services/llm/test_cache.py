"""The reply cache of one process."""

from services.runtime.llm.cache import MemoryReplyCache


async def test_the_first_text_under_a_key_stays() -> None:
    cache = MemoryReplyCache()
    await cache.put("k", "first")
    await cache.put("k", "second")
    assert await cache.get("k") == "first"
    assert await cache.get("other") is None
