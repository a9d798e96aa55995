"""Files of votes in, every rating statistic out.

    files  ->  records  ->  votes  ->  sources  ->  board, style, tournament, advice, powered
                                                ->  ratings.json, CSV files, tables

Reading knows columns and spellings and no statistics; the statistics are the core's; writing and drawing
compute nothing. What the data cannot answer is None with a state beside it.
"""
