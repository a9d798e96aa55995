"""Packages that are installed on request only, and the extra that brings each."""

from collections.abc import Iterator
from contextlib import contextmanager

_EXTRAS = {
    "fastapi": "light",
    "httpx2": "client",
    "ir_measures": "analysis",
    "jinja2": "analysis",
    "krippendorff": "analysis",
    "narwhals": "frames",
    "openai": "light",
    "pandas": "pandas",
    "plotly": "plots",
    "polars": "frames",
    "py3langid": "light",
    "pyphen": "analysis",
    "rapidfuzz": "analysis",
    "sacrebleu": "analysis",
    "sentencex": "light",
    "sklearn": "trees",
    "starlette": "light",
    "uvicorn": "light",
}


class MissingExtra(ImportError):
    """A package that is needed here is not installed; the message names the extra that brings it."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed: pip install '.[{extra}]' in a checkout", name=package)


@contextmanager
def extras_named() -> Iterator[None]:
    """Say of a package that cannot be imported inside the block which extra brings it.

    Raises:
        MissingExtra: A package of an extra is not installed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _EXTRAS:
            raise
        raise MissingExtra(package, _EXTRAS[package]) from error
