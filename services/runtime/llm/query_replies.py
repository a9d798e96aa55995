"""What a model replies when it makes queries: searches for a query, queries that a text answers."""

from services.runtime.llm.replies import Reply


class VariationsReply(Reply):
    """Reply to task `query_variations`: other searches for what the query asks."""

    searches: list[str]


class QueriesReply(Reply):
    """Reply to task `collection_queries`: queries that a part of a document answers."""

    queries: list[str]


class AnsweredQueriesReply(Reply):
    """Reply to task `queries_answered`: the IDs of the queries that the chunk answers."""

    answered: list[str]
