# SPDX-License-Identifier: Apache-2.0
"""Networks between VMs: a driver that is neither Linux's nor a bare guest's, U-Boot's."""

import pathlib

import pytest

import harness
import plain
from runlib.qemu import U_BOOT

TREE = """/dts-v1/;
/ {
	compatible = "tally,vm-tree-1";
	images {
		u_boot: u-boot { data = /incbin/("%s"); };
		bare: bare { data = /incbin/("%s"); };
	};
	vms {
		alpha {
			memory = /bits/ 64 <(64 << 20)>;
			kernel = <&u_boot>;
			load-offset = /bits/ 64 <0x200000>;
			%s
			vcpu0 { harts = <0>; };
		};
		beta {
			memory = /bits/ 64 <(16 << 20)>;
			kernel = <&bare>;
			bootargs = "kind=net role=host ip=2 pings=2";
			vcpu0 { harts = <0>; };
		};
	};
	networks { lan {
		alpha { mac-address = [02 00 00 00 00 01]; };
		beta { };
	}; };
};
"""


# Its compiled-in environment begins with this variable.
ENVIRONMENT = b"bootcmd=run distro_bootcmd\0"


def told(folder, *commands):
    """A U-Boot that executes commands when it has started, and no key interrupts it (bootdelay -2).
    Commands typed instead would have to come before its countdown is over."""
    image = pathlib.Path(U_BOOT).read_bytes()
    begin = image.index(ENVIRONMENT)
    room = image.index(b"\0\0", begin) - begin
    own = b"bootdelay=-2\0bootcmd=" + "; ".join(commands).encode()
    assert len(own) <= room
    file = folder / "u-boot.bin"
    file.write_bytes(image[:begin] + own.ljust(room, b"\0") + image[begin + room:])
    return file


@pytest.mark.parametrize("properties, look", [
    ("", ["pci enum", "virtio scan"]), ('machine = "virt";', ["virtio scan"])])
def test_u_boot(tmp_path, properties, look):
    """It finds its port when it has looked at the bus or slots, takes the MAC from it, and hears
    answers."""
    u_boot = told(tmp_path, *look, "printenv ethaddr", "setenv ipaddr 10.0.0.1",
                  *["ping 10.0.0.2"] * 2, "poweroff")
    tree = tmp_path / "u-boot.dts"
    tree.write_text(TREE % (u_boot, plain.make("build/guests/bare.bin"), properties),
                    encoding="ascii")
    result = harness.run(tree)
    assert result.status == harness.OK, str(result)
    lines = result.vm("alpha")
    assert lines.count("ethaddr=02:00:00:00:00:01") == 1, str(result)
    assert lines.count("host 10.0.0.2 is alive") == 2, str(result)
    assert result.vm("beta") == ["net: it is known, 2 answers"]
    # A request for the address and an echo request, twice.
    assert ("vm alpha: port 0: sent frames=4 bytes=168 refused=0, "
            "received frames=4 bytes=168 lost=0") in result.own
