# SPDX-License-Identifier: Apache-2.0
"""`top` at the prompt of tools/run: a program of the host's that has the screen, here a small one.
"""
import os
import selectors

import pytest

from recorded import Bench, Screen
from runlib.prompt import Prompt
from runlib.top import Watched

PICTURE = """#!/bin/sh
stty raw -echo
printf '\\033[?1049h\\033[Hpicture for %s of %s' "$*" "$(stty size)"
while key=$(dd bs=1 count=1 2>/dev/null); do
	[ "$key" != q ] || break
	printf "<%s>" "$key"
done
printf '\\033[?1049l'
"""
WRONG = "#!/bin/sh\necho 'usage: x' >&2; echo 'x: wrong use' >&2; exit 2\n"


@pytest.fixture
def live(tmp_path):
    bench = Bench(interactive=True)
    bench.wait, bench.screen = selectors.DefaultSelector(), Screen(columns=100, lines=30)
    program = tmp_path / "top"
    program.write_text(PICTURE, encoding="ascii")
    program.chmod(0o755)
    bench.program = program

    def watch(words, done):
        return Watched([str(program), *words], bench.console, bench.wait,
                       os.terminal_size((100, 30)), done)

    bench.keys.prompt = bench.prompt = Prompt(bench.console, bench.relay.ask_soon, watch)

    def rows_with(text):
        """What is shown as soon as that is shown."""
        while text not in "\n".join(rows := bench.screen.feed(bench.emitted()).display):
            for key, _ in bench.wait.select():
                key.data()
        return [row.rstrip() for row in rows if row.strip()]

    bench.rows_with = rows_with
    yield bench
    bench.prompt.stop()


PROMPT = ["tally: input goes to the prompt (Ctrl-T ? for help)", "tally> top 5"]


def test_it_has_the_screen(live):
    """It draws, is told the size of the terminal, and gets the keys; others' lines wait."""
    live.keys.take(b"\x14:top 5\rab")
    assert live.rows_with("<b>")[0] == "picture for 5 of 30 100<a><b>"
    live.own("vm c: ended")
    live.put(1, b"hello\n")
    live.keys.take(b"c")
    assert "hello" not in "".join(live.rows_with("<c>"))
    live.keys.take(b"q")
    assert live.rows_with("hello")[:4] == [*PROMPT, "tally: vm c: ended", "[linux-b] hello"]
    assert live.rows_with("tally> ")[-1] == "tally>"
    live.keys.take(b"vms\r")
    assert live.relay.asked[0][1] == "vms --json"


def test_who_goes_to_a_guest_looks_no_longer(live):
    live.keys.take(b"\x14:top 5\r")
    live.rows_with("picture")
    process = live.prompt.watched.process
    live.keys.take(b"\x142x")
    assert live.rows_with("linux-b")[:2] == PROMPT
    assert process.returncode is not None and not live.wait.get_map()
    assert live.relay.typed == [(1, b"x")]


def test_it_does_not_like_its_words(live):
    live.program.write_text(WRONG, encoding="ascii")
    live.keys.take(b"\x14:top 5\r")
    assert live.rows_with("wrong")[:3] == [*PROMPT, "tally: x: wrong use"]
    live.keys.take(b"\x04x")
    assert live.relay.typed == [(0, b"x")]
