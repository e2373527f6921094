# SPDX-License-Identifier: Apache-2.0
"""Mistakes in single properties of a VM tree, and the refusal of each. docs/refusals.md is made of
them too."""

TREE = """/dts-v1/;
/ {
	compatible = "tally,vm-tree-1";
	images { bare: bare { data = /incbin/("hundred-zeros.bin"); }; };
	vms {
		one {
			memory = /bits/ 64 <0x200000>;
			kernel = <&bare>;
			vcpu0 { harts = <0>; };
		};
	};
};
"""
# (what to replace, by what, the refusal). One for each kind that dtc lets through.
REFUSALS = [
    ('"tally,vm-tree-1"', '"tally,vm-tree-0"', '/: compatible: is not "tally,vm-tree-1"'),
    ("vms {", "chosen {}; vms {", "/chosen: no node of this name belongs here"),
    ("harts", "hart", "/vms/one/vcpu0: hart: is not a property of this node; did you mean harts?"),
    ("vms {", "schedules { hart0 { major-frame = <1000>; }; }; vms {",
     "/schedules/hart0: major-frame: is not a property of this node; did you mean major-frame-us?"),
    ("memory = /bits/ 64 <0x200000>;", "", "/vms/one: memory: is missing"),
    ("/bits/ 64 <0x200000>", "<0x200000>",
     "/vms/one: memory: is 4 bytes long, not 8: one 64-bit number, two cells"),
    ("/bits/ 64 <0x200000>", "/bits/ 64 <0x100000>",
     "/vms/one: memory: 1048576 bytes is not a positive multiple of 2 MiB"),
    ("/bits/ 64 <0x200000>", "/bits/ 64 <0x40000000>",
     "/vms/one: memory: the VMs up to this one need 1024 MiB, this machine has 990 MiB"),
    ("memory =", "memory-at = /bits/ 64 <0x90000000>; memory =",
     "/vms/one: memory-at: is 8 bytes long, not pairs of address and size, 16 bytes each"),
    ("memory =", "memory-at; memory =", "/vms/one: memory-at: names no memory"),
    ("memory =", f"memory-at = /bits/ 64 <{'0x90000000 0x200000 ' * 5}>; memory =",
     "/vms/one: memory-at: names 5 pieces, more than 4"),
    ("memory =", "memory-at = /bits/ 64 <0x90100000 0x200000>; memory =",
     "/vms/one: memory-at: 0x90100000 is not a multiple of 2 MiB"),
    ("memory =", "memory-at = /bits/ 64 <0x90000000 0x100000>; memory =",
     "/vms/one: memory-at: 1048576 bytes at 0x90000000 are not a positive multiple of 2 MiB"),
    ("memory =", "memory-at = /bits/ 64 <0x90000000 0x400000>; memory =",
     "/vms/one: memory: 2097152 bytes are not the 4194304 of memory-at"),
    ("memory =", "memory-at = /bits/ 64 <0x7fe00000 0x200000>; memory =",
     "/vms/one: memory-at: the memory at 0x7fe00000 is no RAM that Tally uses, which "
     "begins at 0x80000000"),
    ("memory =", "memory-at = /bits/ 64 <0xbfe00000 0x400000>; memory =",
     "/vms/one: memory-at: the memory at 0xbfe00000 goes on behind the end of RAM, 0xc0000000"),
    ("memory =", "memory-at = /bits/ 64 <0xc0000000 0x200000>; memory =",
     "/vms/one: memory-at: the memory at 0xc0000000 begins behind the end of RAM, 0xc0000000"),
    ("memory =", "memory-at = /bits/ 64 <0x81e00000 0x200000>; memory =",
     "/vms/one: memory-at: the memory at 0x81e00000 begins in what Tally keeps of RAM, up to "
     "0x82000000"),
    ("memory =", "memory-at = /bits/ 64 <0xa0000000 0x400000>; memory =",
     "/vms/one: memory-at: the memory at 0xa0000000 reaches the VM tree, which begins at "
     "0xa0200000"),
    ("memory =", "memory-at = /bits/ 64 <0xa0200000 0x200000>; memory =",
     "/vms/one: memory-at: the memory at 0xa0200000 begins in the VM tree, up to 0xa0400000"),
    ("memory =", "memory-at = /bits/ 64 <0x90000000 0x400000 0x90200000 0x200000>; memory =",
     "/vms/one: memory-at: the pieces at 0x90000000 and 0x90200000 overlap"),
    ("one {", "nil { memory-at = /bits/ 64 <0x90000000 0x400000>; kernel = <&bare>; "
     "vcpu0 { harts = <0>; }; }; one { memory-at = /bits/ 64 <0x90200000 0x200000>;",
     "/vms/one: memory-at: the memory at 0x90200000 overlaps that of nil"),
    ("one {", "nil { memory-at = /bits/ 64 <0x82000000 0x1e000000 "
     "0xa0400000 0x1c00000 0xa2200000 0x1dc00000>; "
     "kernel = <&bare>; vcpu0 { harts = <0>; }; }; two { memory = /bits/ 64 <0x400000>; "
     "kernel = <&bare>; vcpu0 { harts = <0>; }; }; one {",
     "/vms/two: memory: no 4 MiB in one piece are left beside the memory of the VMs, "
     "/reserved-memory and the VM tree; at most 2"),
    ("harts = <0>", "harts = <1>", "/vms/one/vcpu0: harts: this machine has no hart 1"),
    ("harts = <0>", "harts = <0 0>", "/vms/one/vcpu0: harts: names 0 twice"),
    ("vcpu0 { harts = <0>; };", "", "/vms/one: has no vcpu"),
    ("vcpu0", "vcpu1", "/vms/one/vcpu1: vcpus are vcpu0, vcpu1 and so on: vcpu0 belongs here"),
    ("one {", "One {",
     "/vms/One: the name of a VM is 1 to 15 characters of a-z, 0-9 and -"),
    ("<&bare>", "<99>", "/vms/one: kernel: does not refer to a child of /images"),
    ('data = /incbin/("hundred-zeros.bin");', "data;", "/images/bare: data: is empty"),
    ('/incbin/("hundred-zeros.bin")', "[1f 8b 08 00]",
     "/vms/one: kernel: is packed by gzip: unpack it first, with gzip -d"),
    ('/incbin/("hundred-zeros.bin")', "[28 b5 2f fd 04]",
     "/vms/one: kernel: is packed by zstd: unpack it first, with zstd -d"),
    ('/incbin/("hundred-zeros.bin")', "[7f 45 4c 46 02]",
     "/vms/one: kernel: is an ELF file: a VM runs an Image, or raw code (objcopy -O binary)"),
    ('/incbin/("hundred-zeros.bin")', "[4d 5a 00 00 7a 69 6d 67]",
     "/vms/one: kernel: is a packed EFI program: a VM runs an Image, or raw code (objcopy -O "
     "binary)"),
    ("kernel = <&bare>;", 'kernel = <&bare>; bootargs = "a", "b";',
     "/vms/one: bootargs: is not one string"),
    ("kernel = <&bare>;", 'kernel = <&bare>; console = "of";',
     '/vms/one: console: is not "on" or "off"'),
    ("kernel = <&bare>;", 'kernel = <&bare>; machine = "qemu";',
     '/vms/one: machine: is not "tally" or "virt"'),
    ("kernel = <&bare>;", "kernel = <&bare>; pmu-counters = <0 19>;",
     "/vms/one: pmu-counters: this machine has no counter 19"),
    ("kernel = <&bare>;", "kernel = <&bare>; pmu-events = <1 0x100001>;",
     "/vms/one: pmu-events: SBI 3.0 has no event_idx 1048577"),
    ("kernel = <&bare>;", 'kernel = <&bare>; pmu-freeze = "none";',
     '/vms/one: pmu-freeze: is not "guest" or "vcpu"'),
    ("vcpu0 { harts = <0>; };", 'pmu-idle-cycles = "on"; vcpu0 { harts = <0>; }; '
     "vcpu1 { harts = <0>; };",
     '/vms/one: pmu-idle-cycles: "on" is for vcpus alone on their harts, and two may run on '
     "hart 0"),
    ("kernel = <&bare>;", 'kernel = <&bare>; restart = "sometimes";',
     '/vms/one: restart: is not "never", "on-failure" or "always"'),
    ("kernel = <&bare>;", "kernel = <&bare>; restart-limit = <1001>;",
     "/vms/one: restart-limit: 1001 is more than 1000"),
    ("kernel = <&bare>;", 'kernel = <&bare>; look = "never";',
     '/vms/one: look: is not "on" or "off"'),
    ("vcpu0 { harts = <0>; };",
     'look = "off"; vcpu0 { harts = <0>; }; vcpu1 { harts = <0>; };',
     '/vms/one: look: "off" is for vcpus alone on their harts, and two may run on hart 0'),
    ("kernel = <&bare>;", "kernel = <&bare>; budget = <2 999 100>;",
     "/vms/one: budget: of 999 events is less than 1000 events"),
    ("kernel = <&bare>;", "kernel = <&bare>; budget = <0x20000 1000 100>;",
     "/vms/one: budget: event_idx 131072 is no general or cache event of SBI 3.0"),
    ("kernel = <&bare>;", "kernel = <&bare>; budget = <2 1000 99>;",
     "/vms/one: budget: for 99 us is for less than 100 us"),
    ("kernel = <&bare>;", 'kernel = <&bare>; look = "off"; budget = <2 1000 100>;',
     '/vms/one: budget: has an exit at the end of each period, and look is "off"'),
    ("vms {", "vms { turn-us = <99>;", "/vms: turn-us: 99 is less than 100 us"),
    ("vms {", "schedules { hart0 { major-frame-us = <9>; }; }; vms {",
     "/schedules/hart0: major-frame-us: 9 is less than 200 us"),
    ("vms {", "schedules { hart1 { major-frame-us = <900>; }; }; vms {",
     "/schedules/hart1: this machine has no hart 1"),
    ("vms {", "schedules { hart0 { major-frame-us = <900>; }; }; vms {",
     "/schedules/hart0: has no window"),
    ("vms {", "schedules { hart0 { major-frame-us = <900>; w { vm = \"one\"; start-us = <0>; "
     "length-us = <901>; }; }; }; vms {",
     "/schedules/hart0/w: length-us: the window ends at 901 us, behind the frame of 900 us"),
    ("vms {", "schedules { hart0 { major-frame-us = <900>; a { vm = \"one\"; start-us = <0>; "
     "length-us = <500>; }; b { vm = \"one\"; start-us = <499>; length-us = <100>; }; }; }; vms {",
     "/schedules/hart0/b: start-us: 499 us is before the end of the window before it, 500 us"),
    ("vms {", "schedules { hart0 { major-frame-us = <900>; w { vm = \"one\"; start-us = <0>; "
     "length-us = <800>; guard-us = <101>; }; }; }; vms {",
     "/schedules/hart0/w: guard-us: 101 us are more than the 100 us since the last window of the "
     "frame before"),
    ("vms {", "schedules { hart0 { major-frame-us = <900>; w { vm = \"two\"; start-us = <0>; "
     "length-us = <800>; }; }; }; vms {",
     '/schedules/hart0/w: vm: no VM has the name "two"'),
    ("kernel = <&bare>;", "kernel = <&bare>; share = <0>;",
     "/vms/one: share: is 0: it would never run"),
    ("kernel = <&bare>;", "kernel = <&bare>; share = <501>;",
     "/vms/one: share: makes turns of 1002000 us, longer than 1000000 us"),
    ("kernel = <&bare>;", 'kernel = <&bare>; bad-access = "ignore";',
     '/vms/one: bad-access: is not "fault" or "stop"'),
    ("kernel = <&bare>;", 'kernel = <&bare>; controls = "two";',
     '/vms/one: controls: no VM has the name "two"'),
    ("kernel = <&bare>;", 'kernel = <&bare>; controls = "one";',
     "/vms/one: controls: names the VM itself"),
    ("kernel = <&bare>;", 'kernel = <&bare>; operator = "all"; operator-interrupt = <1>;',
     '/vms/one: operator: is not "watch" or "control"'),
    ("kernel = <&bare>;", 'kernel = <&bare>; operator = "watch";',
     "/vms/one: operator-interrupt: is missing"),
    ("kernel = <&bare>;", 'kernel = <&bare>; operator = "watch"; operator-interrupt = <10>;',
     "/vms/one: operator-interrupt: source 10 is that of the VM's UART"),
    ("kernel = <&bare>;",
     'kernel = <&bare>; operator = "watch"; operator-interrupt = <1>; operator-vms = "two";',
     '/vms/one: operator-vms: no VM has the name "two"'),
    ("kernel = <&bare>;",
     'kernel = <&bare>; operator = "watch"; operator-interrupt = <1>; operator-samples-hz = <0>;',
     "/vms/one: operator-samples-hz: 0 is not 1 to 100000 samples a second"),
    ("kernel = <&bare>;", 'kernel = <&bare>; operator-vms = "one";',
     "/vms/one: operator-vms: is that of an operator, and there is no property operator"),
    ("kernel = <&bare>;", 'kernel = <&bare>; crash-exits = "64";',
     '/vms/one: crash-exits: is not "on" or "off"'),
    ("kernel = <&bare>;", 'kernel = <&bare>; shutdown = "acpi";',
     '/vms/one: shutdown: is not "none", "sysrq" or "key"'),
    ("kernel = <&bare>;", 'kernel = <&bare>; shutdown = "sysrq"; console = "off";',
     '/vms/one: shutdown: "sysrq" needs the console'),
    ("kernel = <&bare>;", 'kernel = <&bare>; suspend = "mem";',
     '/vms/one: suspend: is not "on" or "off"'),
    ("kernel = <&bare>;", 'kernel = <&bare>; boot = "later";',
     '/vms/one: boot: is not "now" or "defer"'),
    ("kernel = <&bare>;", 'kernel = <&bare>; boot = "defer";',
     '/vms: boot: is "defer" in every VM: none starts'),
    ("kernel = <&bare>;", "kernel = <&bare>; heartbeat-ms = <0>;",
     "/vms/one: heartbeat-ms: is 0: no guest rings so often"),
    ("kernel = <&bare>;", "kernel = <&bare>; heartbeat-ms = <3600001>;",
     "/vms/one: heartbeat-ms: 3600001 is more than 3600000 ms"),
    ("kernel = <&bare>;", "kernel = <&bare>; controls;",
     "/vms/one: controls: is not a list of strings"),
    ("kernel = <&bare>;", "kernel = <&bare>; load-offset = /bits/ 64 <1>;",
     "/vms/one: load-offset: 1 is not a multiple of 4096"),
    ("kernel = <&bare>;", "kernel = <&bare>; load-offset = /bits/ 64 <0x1f0000>;",
     "/vms/one: kernel: 100 bytes at offset 2031616 do not fit into the VM's memory"),
    ("kernel = <&bare>;",
     "kernel = <&bare>; initrd = <&bare>; load-offset = /bits/ 64 <0x1ef000>;",
     "/vms/one: initrd: 100 bytes do not fit behind the kernel, which ends at offset 2027620"),
]


def spoilt(old, new):
    """The good tree with a mistake."""
    assert TREE.count(old) == 1
    return TREE.replace(old, new)
