"""Rubric evaluation: passages graded on exam questions or nuggets, from 0 (silent) to 5 (excellent).

Source: Farzi and Dietz, "Pencils Down! Automatic Rubric-based Evaluation of Retrieve/Generate Systems",
ICTIR 2024, and "Exam++", 2024.
"""
