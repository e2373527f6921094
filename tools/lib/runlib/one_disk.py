# SPDX-License-Identifier: Apache-2.0
"""How one logs in to the guests of dts/one-disk.dts: to the server, which has the network card,
from this computer, and to the others by way of it."""
import os

from runlib.ssh_config import HOST, entry, ports

SERVER = "io"
CLIENTS = {"alpha": "10.1.1.2", "beta": "10.1.2.2"}
FIRST_PORT = 2201


def configure(folder, first_port=FIRST_PORT):
    """Writes the folder's ssh_config, beside the keys that tools/make/one-disk has made. Returns
    options of tools/run: what is behind the server's devices."""
    port = ports(1, first_port)[0]
    keys = [os.path.join(folder, name) for name in ("key", "known_hosts")]
    with open(os.path.join(folder, "ssh_config"), "w", encoding="utf-8") as file:
        file.write(entry(SERVER, port, *keys))
        for name, address in CLIENTS.items():
            file.write(entry(name, 22, *keys, host=address, behind=SERVER))
    return ["--disk", "%s=%s" % (SERVER, os.path.join(folder, "disk.img")),
            "--net", "%s=user,hostfwd=tcp:%s:%d-:22" % (SERVER, HOST, port)]
