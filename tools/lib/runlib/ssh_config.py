# SPDX-License-Identifier: Apache-2.0
"""How one logs in to guests by SSH: ssh's configuration, keys, and ports of this computer."""
import base64
import struct

from runlib.backing import refused
from runlib.guest_disk import DiskError, run

PORTS = 200
HOST = "127.0.0.1"
# No question about a key that is known. A guest that restarts closes no connection: what is sent to
# keep it alive is what the next life refuses.
ENTRY = """Host {name}
    HostName {host}
    Port {port}
    User root
    IdentityFile "{key}"
    IdentitiesOnly yes
    HostKeyAlias {name}
    UserKnownHostsFile "{known}"
    StrictHostKeyChecking yes
    ServerAliveInterval 5
    ServerAliveCountMax 120
"""
BEHIND = "    ProxyJump {name}\n"


def entry(name, port, key, known, host=HOST, behind=None):
    """The lines about a guest. behind: another one, from which alone it can be reached."""
    text = ENTRY.format(name=name, host=host, port=port, key=key, known=known)
    return text + (BEHIND.format(name=behind) if behind else "")


def ports(count, first):
    """Ports of this computer that nobody has."""
    free = [port for port in range(first, min(first + PORTS, 1 << 16))
            if not refused("tcp", HOST, port)]
    if len(free) < count:
        raise DiskError("ports %d to %d of this computer are all taken; --port names another first "
                        "one" % (first, first + PORTS - 1))
    return free[:count]


def make_key(path, comment):
    """A pair of keys, PATH and PATH.pub. Returns the public one, without the comment."""
    run("ssh-keygen", "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", path)
    with open(path + ".pub", encoding="ascii") as file:
        return " ".join(file.read().split()[:2])


def for_dropbear(private):
    """The same key as dropbear has it. OpenSSH's format is in its PROTOCOL.key: behind a magic
    there are strings, each with its length before it."""
    data = base64.b64decode(b"".join(private.split(b"\n")[1:-2]))

    def strings(data, count):
        for _ in range(count):
            size = struct.unpack_from(">I", data)[0]
            yield data[4:4 + size]
            data = data[4 + size:]
        yield data

    # Cipher, its key's derivation and options; then 4 bytes with the number of keys.
    *_, data = strings(data[len(b"openssh-key-v1\0"):], 3)
    _, keys, _ = strings(data[4:], 2)
    # Two equal numbers; type, public and private key, comment.
    kind, _, secret, *_ = strings(keys[8:], 3)
    return b"".join(struct.pack(">I", len(text)) + text for text in (kind, secret))
