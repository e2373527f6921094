# SPDX-License-Identifier: Apache-2.0
"""tools/check/links: what leads nowhere is named, by its line; what leads somewhere is not."""

import subprocess

import harness

PAGE = """# A page

[there](other.md), [a heading](other.md#two-words), [here](#a-page), [a folder](.),
[elsewhere](https://example.org/none.md), `core/boot/main.c`, `tools/`, `build/none`, `core/*.c`
[no file](none.md), [no heading](other.md#three), ![no picture](none.svg)
[not here](#two-words) and `core/none.c`
`test_links.py::test_what_leads_nowhere`, `test_vpmu.c::test_get_info`, `test_links.py::none`,
`test_vpmu.c::test_get`, `test_none.py::none`

    [`shown`](other.md)

```
[shown](none.md) `core/none.c`
```
"""


def check(*files):
    return subprocess.run([harness.ROOT / "tools/check/links", *files], capture_output=True,
                          text=True, check=False)


def test_what_leads_nowhere(tmp_path):
    page, other = tmp_path / "page.md", tmp_path / "other.md"
    page.write_text(PAGE, encoding="utf-8")
    other.write_text("# One\n\n## Two `words`\n\n```\n# three\n```\n", encoding="utf-8")
    done = check(page)
    assert done.returncode == 1
    assert [line.split(":", 1)[1] for line in done.stdout.splitlines()] == [
        "5: none.md: there is no such file", "5: other.md#three: there is no such heading",
        "5: none.svg: there is no such file", "6: #two-words: there is no such heading",
        "6: core/none.c: there is no such file",
        "7: test_links.py::none: there is no such test",
        "8: test_vpmu.c::test_get: there is no such test",
        "8: test_none.py::none: there is no such test"]
    assert check(other).returncode == 0
