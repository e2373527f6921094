# SPDX-License-Identifier: Apache-2.0
"""tools/check/waits finds loops that wait and are not marked."""
import subprocess

import pytest

import harness

LOOPS = {
    "while (io_read32(base + 4) & BUSY)\n\t\t;": True,
    "while (csr_read(CSR_TIME) < end)\n\t\trest();": True,
    "while (atomic_load(&pcpu->state) < stage) {\n\t\trest();\n\t}": True,
    "do {\n\t\tnow = csr_read(CSR_TIME);\n\t} while (now - since < most);": True,
    "do\n\t\tall = both(w, c);\n\twhile (!atomic_compare_exchange_weak(&c, &w, all));": True,
    "for (;;)\n\t\twfi();": True,
    "for (uint32_t i = 0; i < 8; i++)\n\t\tseen |= io_read32(base);": True,
    "while (!timed_out(iommu)) {\n\t\tlook();\n\t}": True,
    "while (csr_read(CSR_TIME) < end) /* WAITS */\n\t\t;": False,
    "do { /* WAITS */\n\t\tnow = csr_read(CSR_TIME);\n\t} while (now < end);": False,
    "for (uint32_t i = 0; i < n; i++)\n\t\tread(i, csr_read(CSR_TIME));": False,
    "while (n--)\n\t\t*to++ = *from++;": False,
}


@pytest.mark.parametrize("loop", LOOPS, ids=range(len(LOOPS)))
def test_loops(tmp_path, loop):
    """One loop in a function."""
    source = tmp_path / "loop.c"
    source.write_text(f"static void f(void)\n{{\n\t{loop}\n}}\n", encoding="utf-8")
    done = subprocess.run([harness.ROOT / "tools/check/waits", source], stdout=subprocess.PIPE,
                          text=True, check=False)
    assert done.returncode == LOOPS[loop], loop
    assert ("looks as if it waits" in done.stdout) == LOOPS[loop]
