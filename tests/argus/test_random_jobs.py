"""Jobs made at random, as offices write them, against primaries that are computed from the records.

The oracle knows records, and the rules of τ-ARGUS as its documentation states them: no tables.
"""

import tempfile
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from diskret import argus
from diskret.errors import DiskretError

TREE = {"North": ["1", "2"], "South": ["3"], "East": ["4", "5"]}
SIZES = ["L", "M", "S"]


@dataclass
class Firm:
    """A record: codes, value in cents, weight, holding, request."""

    region: str
    size: str
    value: int
    weight: int
    holding: str
    request: str


@dataclass
class Asked:
    """What a job asks for, and how its files are written."""

    firms: list[Firm]
    rules: list[str]
    own: dict = field(default_factory=dict)
    free: bool = False
    separator: str = ";"
    comma: bool = False
    encoding: str = "utf-8"
    place: str = "Größe"
    style: int = 0


@st.composite
def jobs(draw):
    """A job with records and rules of every kind that go together."""
    weighted, held = draw(st.booleans()), draw(st.booleans())
    holding = iter("abcdefghijklmnopqrstuvwxyz"[: draw(st.integers(3, 12))])
    names = [*holding]
    count = draw(st.integers(2, 25))
    firms = [
        Firm(
            draw(st.sampled_from([code for below in TREE.values() for code in below])),
            draw(st.sampled_from(SIZES)),
            draw(st.one_of(st.just(0), st.integers(0, 400), st.integers(0, 99_999))),
            draw(st.integers(1, 4)),
            draw(st.sampled_from(names)),
            draw(st.sampled_from(["0", "0", "0", "1", "2"])),
        )
        for _ in range(count)
    ]
    firms.sort(key=lambda firm: firm.holding)  # as τ-ARGUS wants them
    own: dict = {"weighted": weighted}
    rules: list[str] = []
    for number in range(2):
        if draw(st.booleans()):
            p, n = draw(st.sampled_from([5, 10, 30])), draw(st.integers(1, 2))
            own.setdefault("P", []).append((p, 100, n, False))
            rules.append(f"P({p},{n})" if n > 1 or number else f"P({p})")
        else:
            rules.append("P(0,0)")
    if draw(st.booleans()):
        n, k = draw(st.integers(1, 3)), draw(st.sampled_from([50, 75, 90]))
        own["NK"] = [(n, k, False)]
        rules.append(f"NK({n},{k})")
    if held and not weighted:
        p = draw(st.sampled_from([8, 20]))
        own.setdefault("P", []).append((p, 100, 1, True))
        rules.append(f"P({p},1)")
    if draw(st.booleans()):
        n = draw(st.integers(2, 4))
        own["FREQ"] = n
        rules.append(f"FREQ({n},{draw(st.integers(0, 50))})")
    if draw(st.booleans()):
        own["ZERO"] = True
        rules.append("ZERO(5)")
    if not weighted and not held and draw(st.booleans()):
        first, second = draw(st.sampled_from([40, 70])), draw(st.sampled_from([30, 60]))
        least = draw(st.integers(1, 3))
        own["REQ"] = first, second, least
        rules.append(f"REQ({first},{second},{least},10)")
    rules = draw(st.permutations([rule for rule in rules if rule[0] != "P"])) + [
        rule for rule in rules if rule[0] == "P"
    ]
    rules.append(f"WGT({int(weighted)})")
    encoding = draw(st.sampled_from(["utf-8", "utf-8-sig", "cp1252", "latin-1"]))
    free = draw(st.booleans())
    separator = draw(st.sampled_from([";", "\t", "|", ","]))
    comma = draw(st.booleans()) and (not free or separator != ",")
    return Asked(firms, rules, own, free, separator, comma, encoding, style=draw(st.integers(0, 7)))


# ── the files of a job ──────────────────────────────────────────────────────────────


def money(value, comma):
    return f"{value // 100}{',' if comma else '.'}{value % 100:02}"


def written(folder: Path, asked: Asked) -> Path:
    """The files of a job; where it is."""
    end = "\r\n" if asked.style & 1 else "\n"
    quote = '"' if asked.style & 2 else ""
    lines = []
    for firm in asked.firms:
        fields = [
            (firm.region, 3), (firm.size, 2), (money(firm.value, asked.comma), 9),
            (str(firm.weight), 3), (firm.holding, 2), (firm.request, 2),
        ]  # fmt: skip
        if asked.free:
            lines.append(asked.separator.join(text for text, _ in fields))
        else:
            lines.append("".join(text.rjust(width) for text, width in fields))
    shown = {"\t": "\\t"}.get(asked.separator, asked.separator)
    metadata = [f'<SEPARATOR> "{shown}"'] if asked.free else []
    start = 1
    for name, width, options in [
        ("Region", 3, ["<RECODEABLE>", "<HIERARCHICAL>", "<HIERCODELIST> Region.hrc"]),
        (asked.place, 2, ["<RECODABLE>"]),
        ("Umsatz", 9, ["<NUMERIC>", "<DECIMALS> 2"]),
        ("Gewicht", 3, ["<WEIGHT>"]),
        ("Gruppe", 2, ["<HOLDING>"]),
        ("Bitte", 2, ['<REQUEST> "1" "2"']),
    ]:
        at = f"{width}" if asked.free else f"{start} {width}"
        metadata += [f"{name} {at}", *(f"\t{option}" for option in options)]
        start += width
    tree = [line for top, below in TREE.items() for line in (top, *(f"@{code}" for code in below))]
    bars = "||" if asked.style & 4 else ""
    batch = [
        "// a job",
        f"<OPENMICRODATA> {quote}D:\\Daten\\FIRMEN.ASC{quote}",
        f"<openmetadata>\t{quote}firmen.rda{quote}   // with its metadata",
        f'<SPECIFYTABLE> "Region""{asked.place}"|"Umsatz"{bars}',
        f"<SAFETYRULE> {'|'.join(asked.rules)}{'|' if bars else ''}",
        "<READMICRODATA>",
        '<WRITETABLE> (1,3,AS+SE-FL-QU-,"C:\\out\\status.txt")',
    ]
    for name, content in (
        ("firmen.asc", lines), ("firmen.rda", metadata), ("region.hrc", tree), ("job.arb", batch)
    ):  # fmt: skip
        (folder / name).write_bytes(
            "".join(f"{line}{end}" for line in content).encode(asked.encoding)
        )
    return folder / "job.arb"


# ── the oracle ──────────────────────────────────────────────────────────────────────


def contributions(firms, weighted, holdings):
    """What contributes to a cell, the largest first."""
    if holdings:
        of: dict = {}
        for firm in firms:
            of[firm.holding] = of.get(firm.holding, 0) + firm.value
        return sorted(of.values(), reverse=True)
    each = [firm.value for firm in firms for _ in range(firm.weight if weighted else 1)]
    return sorted(each, reverse=True)


def status(firms, own):
    """The number that τ-ARGUS gives to a cell: the first rule that hits, in its order."""
    if not firms:
        return 14
    weighted = own["weighted"]
    x = contributions(firms, weighted, False)
    total = sum(x)
    for n, k, _ in own.get("NK", []):
        if total > 0 and Fraction(100 * sum(x[:n]), total) > k:
            return 3
    for p, q, n, holdings in own.get("P", []):
        of = contributions(firms, weighted, holdings)
        if Fraction(p * of[0], 100) + Fraction(q * (sum(of[: n + 1]) - total), 100) > 0:
            return 3
    if "REQ" in own:
        first, second, least = own["REQ"]
        most = max(firm.value for firm in firms)
        largest = [firm for firm in firms if firm.value == most]
        for code, share in (("1", first), ("2", second)):
            asked = any(firm.request == code for firm in largest)
            if asked and total > 0 and Fraction(100 * most, total) > share:
                return 4
        if any(firm.request != "0" for firm in firms) and len(firms) < least:
            return 4
    counted = sum(firm.weight for firm in firms) if weighted else len(firms)
    if 0 < counted < own.get("FREQ", 0):
        return 5
    if own.get("ZERO") and total == 0:
        return 6
    return 1


def ambiguous(firms, own):
    """Whether several firms are the largest and do not all ask: who of them counts is not said."""
    if "REQ" not in own or not firms:
        return False
    most = max(firm.value for firm in firms)
    return len({firm.request for firm in firms if firm.value == most}) > 1


def inside(firm, region, size):
    below = {"Total": [code for codes in TREE.values() for code in codes], **TREE}
    return firm.region in below.get(region, [region]) and size in ("Total", firm.size)


@given(jobs())
def test_primaries_are_those_of_the_records(asked):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        done = argus.run(written(folder, asked))
        assert done.notes == ()
        shown = {}
        for line in (folder / "status.txt").read_text(encoding="utf-8").splitlines():
            *codes, value, code = [field.strip() for field in line.split(",")]
            shown[tuple(codes)] = value, int(code)
    regions = ["Total", *(code for top, below in TREE.items() for code in (top, *below))]
    sizes = ["Total", *sorted({firm.size for firm in asked.firms})]
    assert {*shown} == {*product(regions, sizes)}
    for (region, size), (value, code) in shown.items():
        firms = [firm for firm in asked.firms if inside(firm, region, size)]
        times = [firm.weight if asked.own["weighted"] else 1 for firm in firms]
        total = sum(t * firm.value for t, firm in zip(times, firms, strict=True))
        assert value == "-" if not firms else Fraction(value) == Fraction(total, 100)
        if not ambiguous(firms, asked.own):
            assert code == status(firms, asked.own), (region, size, asked.rules)


METHODS = ["MOD(1,5,1,1,1)", "OPT(1)", "GH(1,75,0,1)", "NET(1)", "RND(1,300,0,5)", "CTA(1)"]


@given(jobs(), st.sampled_from(METHODS))
def test_a_job_is_carried_out_with_proof_or_refused_in_words(asked, method):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        job = written(folder, asked)
        text = job.read_bytes().decode(asked.encoding)
        text += f'<SUPPRESS> {method}\n<WRITETABLE> (1,2,,"out.txt")\n'
        job.write_bytes(text.encode(asked.encoding))
        before = {path.name for path in folder.iterdir()}
        try:
            found = argus.run(job).tables[0]
        except DiskretError as error:
            assert str(error).startswith("job.arb, line ")
            assert {path.name for path in folder.iterdir()} == before
            return
        cells = (folder / "out.txt").read_text(encoding="utf-8").splitlines()
        assert len(cells) == found.status.size + 1
        if method[:3] in ("RND", "CTA"):
            assert not any(line.endswith(",x") for line in cells)
        else:
            hidden = found.result.published.suppressed
            assert sum(line.endswith(",x") for line in cells) == hidden.sum()
            assert (hidden | ~found.sensitivity.unsafe).all()
