"""Settings shared by all tests."""

from __future__ import annotations

import os
import signal

from hypothesis import settings

# The same examples on every run, and no time limits: the machines that run the tests are shared.
settings.register_profile("default", derandomize=True, deadline=None, database=None, max_examples=50)
settings.register_profile("nightly", derandomize=False, deadline=None, max_examples=500, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

# Where the test runner was started in the background, processes it starts would ignore Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
