"""Tables in LaTeX, and what stands beside them."""

from __future__ import annotations

import re

from diskret.outputs.files.looked_at import Found
from diskret.outputs.files.tables import Said, columns_of, look
from diskret.outputs.profile import Profile

_TABULAR = re.compile(
    r"\\begin\{(tabular|tabular\*|tabularx|longtable)\}(.*?)\\end\{\1\}", re.DOTALL
)
#: Commands that change how a table looks, with their arguments.
_RULES = re.compile(
    r"\\(toprule|midrule|bottomrule|hline|endhead|endfirsthead|endfoot|endlastfoot|centering|"
    r"small|footnotesize|scriptsize|tiny|normalsize|maketitle|noindent|newpage|clearpage)(?![A-Za-z])"
    r"|\\(cline|cmidrule)(\([lr]*\))?\{[\d-]+\}|\\addlinespace(\[[^]]*\])?"
)
_AROUND = re.compile(
    r"\\documentclass(\[[^]]*\])?\{[\w-]+\}|\\usepackage(\[[^]]*\])?\{[\w,\s-]+\}|"
    r"\\(begin|end)\{(document|table\*?|center|adjustbox|threeparttable)\}(\[[^]]*\])?|"
    r"\\label\{[^{}\d]*\}"
)
_CAPTION = re.compile(r"\\caption\*?\{([^{}\\\d]*)\}|\\(sub)*section\*?\{([^{}\\\d]*)\}")
_SPAN = re.compile(r"\\multicolumn\{(\d+)\}\{[^{}]*\}\{((?:[^{}]|\{[^{}]*\})*)\}")
_DOWN = re.compile(r"\\multirow(?:\[\w\])?\{-?\d+\}\{[^{}]*\}\{((?:[^{}]|\{[^{}]*\})*)\}")
_DRESS = re.compile(r"\\(?:textbf|textit|emph|texttt|text|mathrm|underline)\{([^{}]*)\}")
_COMMENT = re.compile(r"(?<!\\)%.*")
_MOST = 1_000  # columns that one may span


def latex(text: str, said: Said, profile: Profile) -> list[Found]:
    """What a text of LaTeX shows in tables, says in words, and hides."""
    found: list[Found] = []
    lines = text.splitlines()
    comments = [(f"line {at + 1}",) for at, line in enumerate(lines) if _COMMENT.search(line)]
    if comments:
        found.append(Found("comments", comments))
    plain = "\n".join(_COMMENT.sub("", line) for line in lines)
    tables = list(_TABULAR.finditer(plain))
    for number, one in enumerate(tables):
        where = () if len(tables) == 1 else (f"table {number + 1}",)
        rows = _rows(one.group(2), one.group(1) in ("tabular*", "tabularx"))
        columns = None if rows is None else columns_of(rows, 1)
        if columns is None:
            line = plain[: one.start()].count("\n") + 1
            found.append(Found("unknown", [(*where, f"line {line}")]))
        else:
            found += look(columns, said, profile, where)
    rest = _TABULAR.sub(lambda one: "\n" * one.group().count("\n"), plain)
    for known in (_RULES, _AROUND, _CAPTION):
        rest = known.sub("", rest)
    words = [
        (f"line {at + 1}",) for at, line in enumerate(rest.splitlines()) if line.strip(" {}\t")
    ]
    if words:
        found.append(Found("prose", words))
    if not tables:
        found.append(Found("unknown"))
    return found


def _rows(body: str, wide: bool) -> list[list[str]] | None:
    """The cells of a table; None: a command is not understood."""
    body = body.lstrip()
    for _ in range(2 if wide else 1):  # width and columns
        begun = re.match(r"(\[[^]]*\])?\{(?:[^{}]|\{[^{}]*\})*\}", body)
        if begun is None:
            return None
        body = body[begun.end() :].lstrip()
    body = _RULES.sub(" ", body)
    rows: list[list[str]] = []
    for line in re.split(r"\\\\\*?\s*(?:\[[^]]*\])?", body):
        if not line.strip():
            continue
        row: list[str] = []
        for cell in re.split(r"(?<!\\)&", line):
            texts = _cell(cell.strip())
            if texts is None:
                return None
            row += texts
        rows.append(row)
    return rows


def _cell(text: str) -> list[str] | None:
    times = 1
    span = _SPAN.fullmatch(text)
    if span:
        times, text = int(span.group(1)), span.group(2).strip()
    down = _DOWN.fullmatch(text)
    text = down.group(1).strip() if down else text
    text = re.sub(r"^\{(.*)\}$", r"\1", _DRESS.sub(r"\1", text))
    bare = re.sub(r"\\[_%&$#{}]", "", text)
    if times > _MOST or re.search(r"[\\%$#{}^]", bare):
        return None
    return [re.sub(r"\\([_%&$#{}])", r"\1", text).replace("~", " ").strip()] * times
