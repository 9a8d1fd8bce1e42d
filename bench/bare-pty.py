"""The bare read loop that the log is measured against: a program on a PTY, read and thrown away."""

import json
import os
import pty
import signal
import sys
import time

READ_BYTES = 65536

started = time.monotonic()
pid, master = pty.fork()
if pid == 0:
    # Python ignores it, and a child would inherit that.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    os.execvp(sys.argv[1], sys.argv[1:])
count = 0
while True:
    try:
        piece = os.read(master, READ_BYTES)
    except OSError:
        # EIO: nobody has the other end open any more.
        break
    if not piece:
        break
    count += len(piece)
os.waitpid(pid, 0)
print(json.dumps({"bytes": count, "seconds": time.monotonic() - started}))
