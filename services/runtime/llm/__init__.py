"""Access to a language model: prompts, replies, the client, the reply cache and the accounting.

    Prompt ──> LLMClient ──> reply cache ── hit ──> Reply
                   │              └─ miss ──> budget ──> endpoint ──> parser ──> Reply
                   └─ identical prompts in flight share one call

`prompt` and `blocks` define what is asked, `replies` the allowed replies, and `client` asks. A service
needs only a `ChatModel`; tests use a scripted one.
"""
