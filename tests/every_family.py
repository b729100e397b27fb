"""One small release of each family of methods, with all files that it can have."""

import pyarrow as pa
from released_microdata import protected
from safe_files import replaced

import diskret as dk
from diskret.attack.microdata.claims import KAnonymity, Safe

KEYS = dk.SecretKeys(bytes(range(32)))
ALL = ("csv", "parquet", "xlsx", "html", "px", "jsonstat", "sdmx1", "sdmx2")
RULE = dk.rules.MinimumFrequency(3)
CELLS = pa.table(
    {
        "region": ["N", "N", "S", "S", "W", "W"],
        "size": ["1", "2", "1", "2", "1", "2"],
        "firms": [17, 12, 11, 15, 9, 12],
        "sales": [170, 20, 110, 150, 90, 30],
    }
)
SMALL = CELLS.set_column(2, "firms", pa.array([17, 2, 11, 15, 1, 12]))
BY = {"region": None, "size": None}


def counts():
    return dk.Table.from_cells(SMALL.drop_columns("sales"), by=BY, count="firms")


def suppressed(folder):
    return dk.suppress(counts(), RULE, name="firms").write(folder, ALL, keys=KEYS)


def edition(folder):
    """With the difference to a last delivery."""
    last = folder.with_name(f"before {folder.name}")
    before = SMALL.set_column(2, "firms", pa.array([16, 3, 1, 15, 9, 12])).drop_columns("sales")
    table = dk.Table.from_cells(before, by=BY, count="firms", vintage="last")
    dk.suppress(table, RULE, name="firms").write(last, ["csv"], keys=KEYS)
    return dk.suppress(counts(), RULE, name="firms").write(folder, ALL, keys=KEYS, previous=last)


def with_intervals(folder):
    result = dk.suppress(counts(), RULE, name="firms")
    options = {"intervals": True, "language": "de", "symbols": "de-letters", "titles": {}}
    return dk.write([result], folder, ALL, keys=KEYS, **options)


def contributor(folder):
    """Sums of firms, against each of them: with judged sums and a list of contributors."""
    places = 18 * ["Na", "Sb", "Wa", "Nb", "Sa"]
    rows = [(*place, 7 * i % 11 + 5) for i, place in enumerate(places)]
    rows += [("W", "b", 90), ("N", "a", 500), ("S", "b", 300)]
    region, size, turnover = map(list, zip(*rows, strict=True))
    records = pa.table({"region": region, "size": size, "turnover": turnover,
                        "firm": list(range(len(rows)))})  # fmt: skip
    table = dk.tabulate(records, by=BY, value="turnover", unit="firm")
    attacker = dk.Attacker(contributor=True)
    result = dk.suppress(table, dk.rules.PPercent(10), attacker=attacker, name="turnover")
    return result.write(folder, ALL, keys=KEYS)


def figures(folder):
    table = dk.Table.from_cells(CELLS, by=BY, count="firms", value="sales")
    firms = dk.Table.from_cells(SMALL.drop_columns("sales"), by=BY, count="firms")
    sales = dk.suppress(table, dk.rules.Apriori(UNSAFE), name="sales")
    other = dk.suppress(firms, RULE, name="firms")
    share = dk.derive.share(sales.published, "region")
    return dk.write([sales, other], folder, ALL, derived=[share], combined="all", keys=KEYS)


UNSAFE = pa.table(
    {"region": ["N"], "size": ["2"], "status": ["unsafe"], "reason": ["x"], "who": ["y"]}
    | {"date": ["2025-12-31"]}
)


def rounded(folder):
    return dk.round_table(counts(), base=5, keys=KEYS, name="firms").write(folder, ALL, keys=KEYS)


def perturbed(folder):
    region = [r for r, n in zip("NSW", (30, 20, 9), strict=True) for _ in range(n)]
    records = pa.table({"region": region, "key": [i * 2654435761 % 2**32 for i in range(59)]})
    ptable = dk.PerturbationTable.maximum_entropy(max_noise=2, variance=1)
    table = dk.tabulate(records, by={"region": None}, record_key="key")
    return dk.perturb(table, ptable, name="persons").write(folder, ALL, keys=KEYS)


def microdata(folder):
    made = protected().release([KAnonymity(3)], household=True, id=True, keys=KEYS)
    return made.write(folder, ("csv", "parquet", "html"))


def microdata_as_text(folder):
    return protected().release([KAnonymity(3)], keys=KEYS).write(folder, ("csv", "html"))


def safe(folder):
    return replaced().release(Safe(), keys=KEYS).write(folder)


FAMILIES = {
    made.__name__: made
    for made in (
        suppressed,
        edition,
        with_intervals,
        contributor,
        figures,
        rounded,
        perturbed,
        microdata,
        microdata_as_text,
        safe,
    )
}
#: Of tests that do the same with each release the others are `long`.
QUICK = ("edition", "contributor", "figures", "microdata", "safe")
