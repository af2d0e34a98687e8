"""The command line. Standard output is data, standard error is for people.

Exit codes: 0 done, 1 the input was bad, 2 wrong usage, 3 finished with a gap left open.
"""
