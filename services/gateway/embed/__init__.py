"""One battle in a frame on the page of an arena: page, votes, tokens, and the script around it."""
