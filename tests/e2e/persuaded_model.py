"""A model that obeys one canary battle, and a provider that refuses to answer another."""

from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from services.judge.canary.battles import CANARIES
from tests.asgi import read_again

_OBEYED, _REFUSED, *_ = CANARIES
# What the offline model prefers, which obeys nobody.
_MORE = "Cats purr while they breathe in and out, and kittens purr while their mother feeds them."
_REFUSAL = {"error": {"message": "no", "type": "error", "param": None, "code": "content_filter"}}


def persuaded(model: ASGIApp) -> ASGIApp:
    """The endpoint of a model with these two faults."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        body = await Request(scope, receive).body()
        if _REFUSED.query.encode() in body:
            await JSONResponse(_REFUSAL, 400)(scope, receive, send)
            return
        changed = body.replace(_OBEYED.injection.encode(), _MORE.encode())
        await model(scope, read_again(changed, receive), send)

    return answer
