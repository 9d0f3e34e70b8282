"""Starts, and does nothing at all."""

import time

time.sleep(3600)
