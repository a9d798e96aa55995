"""Files of votes in, tables and files out: what `nuggetstream rate` computes."""
