"""`nuggetstream doctor` names the date of the vendored address registries."""

from datetime import timedelta

from services.cli.commands.doctor import _registries
from services.runtime.public_addresses import registries_of


def test_registries_older_than_a_year_are_a_warning_and_no_error() -> None:
    as_of = registries_of()
    assert _registries(as_of + timedelta(days=365)).startswith(f"ok   address registries of {as_of}")
    old = _registries(as_of + timedelta(days=366))
    assert old.startswith(f"warn address registries of {as_of}")
    assert "more than a year old" in old
