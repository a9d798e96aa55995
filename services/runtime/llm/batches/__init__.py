"""Model calls in batches: half the price, answered within a day.

    a call ──> its queue ──(no further call for a while)──> upload ──> poll ──> the results ──> the calls

The client, its prompts, cache, repairs and accounts are those of single calls. Only the transport below the
SDK differs: a call waits there until the batch that it is part of has ended.
"""
