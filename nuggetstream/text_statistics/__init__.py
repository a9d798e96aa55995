"""Statistics of texts: one row per text, and means per group.

files of texts  ->  length, readability, citations, markup of each text  ->  means per group
"""
