# SPDX-License-Identifier: Apache-2.0
"""Files that are replaced as a whole."""
import os
import tempfile


def replace(path, data):
    """Writes a file so that its readers find the old one or the new one. Raises OSError with the
    path that was given."""
    place = os.path.realpath(path)  # of a link, what it names
    try:
        # Its name ends otherwise: who reads all of a kind does not find it.
        descriptor, made = tempfile.mkstemp(prefix=".tally.", dir=os.path.dirname(place))
        try:
            with open(descriptor, "wb") as out:
                out.write(data)
                umask = os.umask(0)
                os.umask(umask)
                os.fchmod(out.fileno(), 0o666 & ~umask)
            os.replace(made, place)
        except BaseException:
            os.unlink(made)
            raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def is_special(path):
    """Whether a pipe, a device or a folder has that name, which is not to be replaced."""
    return os.path.exists(path) and not os.path.isfile(path)


def write(path, data):
    """The same; a pipe or a device gets what is written, and stays one."""
    if not is_special(path):
        replace(path, data)
        return
    try:
        with open(path, "wb") as out:
            out.write(data)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
