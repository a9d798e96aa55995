"""Every event that can be recorded has a view for clients, whatever it holds."""

from datetime import UTC, datetime
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nuggetstream.domain.event import BattleEvent
from services.gateway.battles.event_views import event_view
from services.store.battles.event_reading import RecordedEvent
from services.wire.codec import encode, schema_of
from services.wire.subjects import event_name
from tests.contract import test_wire

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


@pytest.mark.parametrize("kind", get_args(BattleEvent), ids=lambda kind: kind.__name__)
@given(data=st.data())
@settings(max_examples=10)
def test_an_event_is_shown_under_its_name(kind: type[BattleEvent], data: st.DataObject) -> None:
    event = data.draw(test_wire.events_of(kind))
    recorded = RecordedEvent(7, event_name(kind), schema_of(kind), encode(event), NOON, complete=True)
    view = event_view(recorded)
    assert (view.kind, view.number, view.at) == (event_name(kind), 7, NOON)
