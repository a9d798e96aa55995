"""The functions of `import nuggetstream`: plain data or frames in, results that show themselves out.

Each takes what a notebook has (a path, a DataFrame, lists, dictionaries), checks it with the errors of the
rooms, and calls the function of the room that does the work.
"""
