"""Signals as a terminal would have them: tests stop programs by them.

Who starts the tests with `&` or `nohup` has some ignored; all that they start inherits that, and the arena heeds
it.
"""

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
