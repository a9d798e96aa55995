"""Settings of the scraper, passed to `PageFetcher`."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, PositiveFloat, PositiveInt

_MIB = 1024 * 1024


class ScraperSettings(BaseModel):
    """Limits, politeness and exceptions of the page fetcher, in seconds and bytes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    user_agent: str = Field(default="Nuggetstream/0.1 (reads the sources that answers cite)", min_length=1)
    """Sent with every request and matched against robots.txt; operators should add a contact address."""

    connect_seconds: PositiveFloat = 5.0
    read_seconds: PositiveFloat = 10.0
    """Longest pause while a response arrives."""
    total_seconds: PositiveFloat = 20.0
    """Network time of one page, including robots.txt and redirects, excluding the wait for a busy host."""
    queue_seconds: PositiveFloat = 60.0
    """Longest wait for a busy host."""

    max_wire_bytes: PositiveInt = 5_000_000
    max_decoded_bytes: PositiveInt = 5_000_000
    max_redirects: int = Field(default=5, ge=0)
    min_text_chars: PositiveInt = 200
    """A page with less text than this is TOO_SHORT; a Han, Kana or Hangul character counts as three."""

    concurrency: PositiveInt = 32
    """Number of requests in flight at once, over all hosts."""
    per_host_concurrency: PositiveInt = 2
    per_host_delay: NonNegativeFloat = 0.25
    """Seconds between two requests to one host."""

    respect_robots: bool = True
    max_robots_bytes: PositiveInt = 512 * 1024
    robots_cache_seconds: PositiveFloat = 24 * 3600.0
    max_crawl_delay: NonNegativeFloat = 5.0
    """Longest Crawl-delay that is honoured, in seconds."""

    allowed_hosts: tuple[str, ...] = ()
    """Hosts exempt from the address guard, such as an intranet, as "host:port" exactly as in the URL."""
    allowed_host_delay: NonNegativeFloat = 0.0
    """Seconds between two requests to one of them, which are the operator's own."""

    cache_pages: PositiveInt = 1024
    cache_chars: PositiveInt = 64_000_000
    cache_seconds: PositiveFloat = 900.0
    """Age in seconds up to which a page is not fetched again, by all scrapers that share a database."""
    cache_failure_seconds: NonNegativeFloat = 30.0
    """Lifetime of cached outcomes that may differ a minute later, such as a timeout."""

    archive_dir: Path | None = None
    """Folder in which raw responses are archived as WARC files; None archives nothing."""
    archive_file_bytes: PositiveInt = 512 * _MIB

    render_url: str | None = Field(default=None, pattern=r"^(https?|wss?)://")
    """Chromium that renders script-only pages, over the DevTools protocol; None renders none."""
    render_seconds: PositiveFloat = 20.0
    """Longest time for one page in the browser, including the wait for a free one."""
    render_concurrency: PositiveInt = 2
    """Number of pages in the browser at once."""
    render_requests: PositiveInt = 60
    """Maximum number of requests that the scripts of one page can make."""
    render_bytes: PositiveInt = 20 * _MIB
    """Maximum size of all responses to them, in bytes."""

    extraction_workers: PositiveInt = 2
    extraction_seconds: PositiveFloat = 10.0
    extraction_memory_bytes: PositiveInt = 1024 * _MIB
    """Limit of the address space of one extraction process."""
    extraction_jobs_per_worker: PositiveInt = 500
    """Number of pages after which an extraction process is replaced, so that memory leaks cannot add up."""
