"""Ends at once, and leaves a child behind that holds its standard output open."""

import os
import sys
import time

if os.fork() == 0:
    time.sleep(600)
sys.exit(1)
