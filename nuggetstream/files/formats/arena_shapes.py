"""The shapes of the rows of arenas, as Parquet needs them for columns that are empty."""

from nuggetstream.files.frames import Shape

_NUGGET: Shape = {"text": "text", "importance": "text"}
_ASSIGNED: Shape = {"text": "text", "importance": "text", "assignment": "text"}
_MESSAGES: Shape = [{"role": "text", "content": "text"}]
_RESULTS: Shape = [{"url": "text", "title": "text", "snippet": "text"}]
_METADATA: Shape = {"web_search_trace": [{"search_results": _RESULTS}]}
METRICS = ("strict_vital", "strict_all", "vital", "all")
SEARCH_ARENA: Shape = {
    "battle_id": "text",
    "arena": "text",
    "model_a": "text",
    "model_b": "text",
    "winner": "text",
    "turn": "count",
    "language": "text",
    "timestamp": "text",
    "tags": ["text"],
    "messages_a": _MESSAGES,
    "messages_b": _MESSAGES,
    "system_a_metadata": _METADATA,
    "system_b_metadata": _METADATA,
    "nugget_documents": [{"docid": "text", "segment": "text"}],
    "scored_nuggets": [_NUGGET],
    "assigned_nuggets_a": [_ASSIGNED],
    "assigned_nuggets_b": [_ASSIGNED],
    "nugget_metrics_a": {f"{name}_score": "number" for name in METRICS},
    "nugget_metrics_b": {f"{name}_score": "number" for name in METRICS},
    "winner_nuggets": "text",
    "winner_judge": "text",
}
CHATBOT_ARENA: Shape = {
    "question_id": "text",
    "model_a": "text",
    "model_b": "text",
    "winner": "text",
    "conversation_a": _MESSAGES,
    "conversation_b": _MESSAGES,
    "turn": "count",
    "language": "text",
    "tstamp": "number",
}
COMPARIA: Shape = {
    "conversation_pair_id": "text",
    "timestamp": "text",
    "model_a_name": "text",
    "model_b_name": "text",
    "chosen_model_name": "text",
    "both_equal": "flag",
    "opening_msg": "text",
    "conversation_a": _MESSAGES,
    "conversation_b": _MESSAGES,
    "conv_turns": "count",
    "categories": ["text"],
    "languages": ["text"],
}
