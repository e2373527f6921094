# SPDX-License-Identifier: Apache-2.0
"""tools/check/lines: the words of a page, without its tables and what it shows literally."""

import importlib.machinery
import importlib.util

import harness

PAGE = """# Two words

One line, and [a link](other.md).

| a | table |
| --- | --- |

```
$ a command
```

    - the end
"""


def tool():
    loader = importlib.machinery.SourceFileLoader("lines", str(harness.ROOT / "tools/check/lines"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("lines", loader))
    loader.exec_module(module)
    return module


def test_words_of_a_page(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE, encoding="utf-8")
    words = "# Two words One line, and [a link](other.md). - the end"
    assert tool().words(page) == len(words.split())


def test_a_long_page_is_named(monkeypatch, capsys):
    module = tool()
    monkeypatch.setattr(module, "WORDS", 2000)
    assert module.main() == 1
    assert capsys.readouterr().out.splitlines()[0] == \
        f"docs/glossary.md: {module.words('docs/glossary.md')} words; 2000 at most, besides tables"
