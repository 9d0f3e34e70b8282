"""Ends when it has read its first message."""

import sys

sys.stdin.readline()
sys.exit("no such variant")
