"""Asking a language model: prompts, replies, one client, its cache, its bill.

    Prompt ──> LLMClient ──> reply cache ── hit ──> Reply
                   │              └─ miss ──> budget ──> endpoint ──> parser ──> Reply
                   └─ identical asks share one call

`prompt` and `blocks` say what is asked, `replies` what may be answered, `client` asks. Everything a
service needs is a `ChatModel`; tests script one.
"""
