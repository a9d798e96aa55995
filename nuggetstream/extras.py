"""What is installed on request only."""


class MissingExtra(ImportError):
    """A package that is needed here is not installed; the message names the extra that brings it."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"{package} is not installed: pip install 'nuggetstream[{extra}]'", name=package)
