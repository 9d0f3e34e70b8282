"""The program that tries to escape: a bot of plain Python, which imports nothing but Python's own library.

There is one file per kind of layer. An attempt is a function, or a row of a table if it only makes system calls.
`running` makes the attempts in order, each in a separate process, and writes the results to standard output as
lines of JSON.
"""
