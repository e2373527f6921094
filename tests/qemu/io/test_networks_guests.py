# SPDX-License-Identifier: Apache-2.0
"""Networks between VMs: a driver that is neither Linux's nor a bare guest's, U-Boot's."""

import io

import pytest

from prompts import to_the_end
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


@pytest.mark.parametrize("properties, look", [
    ("", ["pci enum", "virtio scan"]), ('machine = "virt";', ["virtio scan"])])
def test_u_boot(console, tmp_path, properties, look):
    """It finds its port when it has looked at the bus or slots, takes the MAC from it, and hears
    answers."""
    tree = tmp_path / "u-boot.dts"
    tree.write_text(TREE % (U_BOOT, plain.make("build/guests/bare.bin"), properties),
                    encoding="ascii")
    screen = console(tree)
    screen.logfile_read = io.StringIO()
    screen.expect("Hit any key to stop autoboot")
    screen.send("\r")
    screen.expect("=> ")
    for command, answer in (*[(command, "=> ") for command in look],
                            ("printenv ethaddr", "ethaddr=02:00:00:00:00:01"),
                            ("setenv ipaddr 10.0.0.1", "=> "),
                            *[("ping 10.0.0.2", "host 10.0.0.2 is alive")] * 2,
                            ("poweroff", "vm alpha: ended")):
        screen.send(command + "\r")
        screen.expect(answer)
    text = to_the_end(screen)
    assert "net: it is known, 2 answers" in text
    # A request for the address and an echo request, twice.
    assert ("vm alpha: port 0: sent frames=4 bytes=168 refused=0, "
            "received frames=4 bytes=168 lost=0") in text
