"""The reply cache of one process."""

from services.runtime.llm.cache import MemoryReplyCache


async def test_the_first_text_under_a_key_stays() -> None:
    cache = MemoryReplyCache()
    await cache.put("k", "first", "b1")
    await cache.put("k", "second", "b1")
    assert await cache.get("k", "b1") == "first"
    assert await cache.get("other", "b1") is None
