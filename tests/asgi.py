"""A request whose body was read already, for an application behind."""

from starlette.types import Message, Receive


def read_again(body: bytes, receive: Receive) -> Receive:
    """Gives the body once more, and then what else the server receives."""
    unread: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return unread.pop() if unread else await receive()

    return again
