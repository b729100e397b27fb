"""Protect a table of a made-up business register and write it; diskret as a library."""

import diskret as dk

register = dk.datasets.business_register(20_000, seed=1)
table = dk.tabulate(
    register.records, by=register.by, value="turnover", unit="firm_id", holding="group_id"
)
result = dk.suppress(table, dk.rules.PPercent(10) | dk.rules.MinimumFrequency(3))
print("\n".join(result.certificate.summary("en")))
result.write("out", formats=["csv", "xlsx"])  # public/ may leave the office, internal/ stays
