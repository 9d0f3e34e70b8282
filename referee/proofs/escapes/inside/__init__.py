"""The program that tries to escape: a bot of plain Python, which imports nothing but Python's own library.

One file a kind of wall, one function an attempt. `running` makes them one by one, each in a process of its own,
and writes what came of each to standard output, one line of JSON an attempt.
"""
