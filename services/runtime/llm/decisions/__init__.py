"""Decisions: questions with few possible answers, answered with a probability for each.

A decision is a `Prompt` with questions. The same decision is asked in three ways, whichever the endpoint has:

    POST /v1/decisions          probabilities of the model, no output tokens
    chat with logprobs          a letter per question; its probability from the alternatives of that token
    chat                        a letter per question, without a probability

The endpoint's dialect learns which of them there is, so callers do not choose.
"""
