# SPDX-License-Identifier: Apache-2.0
"""What tools/run leaves on the disk while a machine runs: a folder of its own, and the socket for
programs. What a run that was killed has left is removed by the next one."""
import contextlib
import fcntl
import glob
import os
import re
import shutil
import stat
import tempfile

from runlib import ptys
from tallylib import image_files, tally_ctl
from runlib.verdict import USAGE, Stop

PREFIX = "tally-run-"


def owned(folder):
    """Opens and locks a folder of a run; None: its run goes on, or it is none of ours."""
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_uid == os.geteuid() and os.path.isdir(folder):
            return descriptor
    except OSError:
        pass
    os.close(descriptor)
    return None


@contextlib.contextmanager
def private_folder():
    """A temporary folder, locked as long as the run goes on."""
    for left in glob.glob(os.path.join(glob.escape(tempfile.gettempdir()), PREFIX + "????????")):
        lock = owned(left)
        if lock is not None:
            shutil.rmtree(left, ignore_errors=True)
            os.close(lock)
    lock = None
    while lock is None:  # another run may take it for one that was left
        folder = tempfile.mkdtemp(prefix=PREFIX)
        lock = owned(folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def remove_dead_sockets(folder):
    """Those of runs that were killed, and their pseudo-terminals' links; and what VMs of runs that
    have ended printed last before they failed; and which files their VMs were booted from."""
    for name in os.listdir(folder):
        number = re.search(r"(\d+)\.(sock|ptys|crash|images)$", name)
        if number and not os.path.exists("/proc/" + number[1]):
            with contextlib.suppress(OSError):
                if number[2] == "ptys":
                    ptys.remove(os.path.join(folder, name))
                elif number[2] == "crash":
                    shutil.rmtree(os.path.join(folder, name))
                else:
                    os.unlink(os.path.join(folder, name))


def default_socket(tree):
    """A name that tells the machine from others: its VM tree's, and this process."""
    name = os.path.splitext(os.path.basename(tree))[0]
    return os.path.join(tally_ctl.FOLDER, "%s-%d.sock" % (
        re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:32], os.getpid()))


@contextlib.contextmanager
def control_socket(path, tree):
    """The path of the socket for tools/tally-ctl: the one asked for, or one that it finds."""
    if not path:
        os.makedirs(tally_ctl.FOLDER, exist_ok=True)
        remove_dead_sockets(tally_ctl.FOLDER)
        path = default_socket(tree)
    with contextlib.suppress(FileNotFoundError):
        if stat.S_ISSOCK(os.stat(path).st_mode):
            other = tally_ctl.connect(path)
            if other:
                other.close()
                raise Stop(USAGE, "--control %s: another machine listens there" % path)
            os.unlink(path)  # of a run that was killed
    image_files.remove(path)
    try:
        yield path
    finally:
        image_files.remove(path)
        with contextlib.suppress(OSError):
            os.unlink(path)
