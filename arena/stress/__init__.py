"""Stress tests of the timing rules over the real wire."""
