"""Records what the arena puts out, so that two versions of the code can be compared byte for byte.

`scripts/outputs` runs it; `groups` lists what is recorded.
"""
