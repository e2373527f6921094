# SPDX-License-Identifier: Apache-2.0
"""Signals while this program waits for its machine."""
import contextlib
import os
import selectors
import signal


@contextlib.contextmanager
def waking(selector):
    """Makes each signal end a wait of the selector, so that its handler runs now. Otherwise a wait
    goes on if the signal came just before it, or if the system gave it to another thread."""
    came, wakeup = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    selector.register(came, selectors.EVENT_READ, lambda: os.read(came, 4096))
    before = signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        selector.unregister(came)
        os.close(came)
        os.close(wakeup)
