"""Content that battles share: pages, chunks, replies, nugget lists and question banks."""
