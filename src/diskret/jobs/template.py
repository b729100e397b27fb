"""A job file to start from."""

_TEMPLATE = """\
# A job for "diskret protect". Paths are seen from the folder of this file.
# Lines that begin with "#" and a key are options with their defaults or examples.

[records]
path = "firms.csv"            # .parquet, .csv, or text in fixed format
#url = "postgresql://clerk@db.example/register"  # instead of path: records in PostgreSQL,
#table = "firms"              # read where they are; the password: PGPASSWORD
#format = "csv"               # parquet | csv | fixed; left out: from the suffix
#engine = "duckdb"            # duckdb | spark: what reads the file, here or on a cluster

# For format = "fixed" only: the encoding, and where each field stands (start counts from 1).
#encoding = "utf-8"
#[[records.columns]]
#name = "region"
#start = 9
#width = 2

# Code trees by name: .hrc (depth = number of lead strings), or .csv with the columns
# code, parent and perhaps label. "total" is the code of the total where the file has none.
[hierarchies]
region = { file = "region.hrc" }
#nace = { file = "nace.hrc", total = "Total", lead = "@", encoding = "utf-8" }
#size = { file = "size.csv", levels = ["broad", "fine"] }          # columns, coarsest first
#kind = { file = "kind.hrc", labels = { en = "kind_en.csv", de = "kind_de.cdl" } }
#isco = { file = "isco.csv", column = "code", prefix = [1, 1, 2] } # 1 → 11 → 1101

# One [[tables]] for each table. Tables of the same measure and vintage have common cells, so
# they are protected and attacked together. So are tables whose measures add up: then write,
# above all sections, e.g.  sums = ["revenue = domestic + export"]
# There too:  keyed_ties = true  lets the secret keys decide between cells of equal cost.
[[tables]]
by = { region = "region", size = "flat" }    # column = "flat" or the name of a code tree
                              # size = { flat = true, total = "T" }: the total has another code
value = "turnover"            # column to sum; left out: a frequency table
#cells = { file = "cells.csv", count = "firms", largest = ["x1", "x2"], additivity = "check" }
                              # instead of [records]: a table that exists already; also
                              # magnitude = "size", signed = true, rounding = 1000
#name = "turnover"            # beginning of the file names; left out: the value, or "count"
#decimals = 0                 # of the value
#round_values = false         # true: values with more decimals are rounded; false: refused
#unit = "firm_id"             # who contributes; left out: every record is a unit
#holding = "group_id"         # who stands behind the units
#weight = "w"                 # sampling weights >= 1; sums are weighted, counts are not
#weight_decimals = 0          # of the weights; sums have those of the value and the weight
#vintage = "2025"             # period and revision
#where = { year = "2025", size = ["1", "2"], employees = { min = 10 } }  # only such records
#request = "asked"            # yes or no: asked for protection; { asked = ["1", "2"] }: 2 levels
#waiver = "consents"          # yes or no: consents to publication; { consents = ["y"] }: codes
#waiver_note = "letters of March 2025"  # for the office's files
#recode = { size = { "10+" = ["10-19", "20+"] } }  # new code = the codes it combines
#rounding = 1000              # published values are multiples of it
#shadow = "employees"         # rules look at contributions to it; levels keep their proportion
#title = { en = "Turnover by region and size", de = "Umsatz nach Region und Größe" }
#method = "auto"              # auto | sequential | modular | optimal | hypercube | network
#cost = "value"               # what a suppression costs: value | count | cells | a measure
#time_limit = 60              # seconds
#budget = 5000                # or steps, which are the same on every computer
#previous = "out-2020"        # release of last period: suppress the same cells where costs tie
#previous_discount = 0        # percent that such cells cost less

[tables.rules]                # confidential: these numbers never leave the office
p_percent = { p = 10 }        # and perhaps minimum_level = 0, coalition = 1
#minimum_frequency = { n = 3, of = "records", range = 10 }  # of: records | units | holdings
                              # of counts: level = 1 in place of range, which is in percent
#dominance = { n = 3, k = 75 } # n = 1, 2: a warning says why they are obsolete; quiet = true
#pq = { p = 10, q = 50, minimum_level = 0, coalition = 1 }
#marginal_value = { distance = 1, variables = ["size"], strict = false, range = 10 }
#group_disclosure = { percent = 90, minimum_parent = 3, range = 10 }
#zero_cells = { level = 10 }  # sums of 0 that have contributors
#missing_safe = { region = ["99"] }  # codes that mean "unknown": such cells are safe
#request = { share = 70, second = 70, minimum = 0, range = 10 }  # needs a column 'request'
# Cells set by hand, a list with one row a cell; the last five are for .hst files of τ-ARGUS.
#[tables.rules.apriori]
#file = "apriori.hst"
#range = 10
#reason = "consent"
#who = "A. Meyer"
#date = "2025-12-31"
#separator = ","
#encoding = "utf-8"

# In place of [tables.rules]: change values instead of hiding cells, by one of these methods. Then
# the table has no method, cost, time_limit, budget, frozen, previous or rounding.
##[tables.noise]
##method = "cell_key"         # the same contributors always get the same noise
##record_key = "key"          # column of record keys, from 0 to below key_modulus = 4294967296
                              # decimals in [0, 1) instead: key_digits = 8, how many they have
##key_of = "person_id"        # or the column that names who is counted: keys are derived from it
##max_noise = 5               # a table of largest entropy; or table = "ptable.csv", and
                              # layout = "ptable" | "abs" | "ons"
##variance = 3
##small_counts = 2            # no published 1 and 2
##stay = 0.0                  # least probability of no noise; this and the next two may be lists,
                              # with a value for each of the counts 1, 2, ...
##monotone = true
##variance_rule = "at_most"   # at_most | exact
##threshold = 3               # smaller published counts are withheld
##additive = "least"          # ipf | least: make the table additive; costs consistency
##[tables.noise.magnitude]    # for a 'value': noise by its largest contributions
##scale = [0.25, 0.05]        # share of small and of large ones; or one number
##flex_point = 1000
##flex_power = 3
##of = "largest"              # largest | mean | sum
##shares = [1, 0.5]           # of the largest contribution, the second, ...
##risk = 0                    # how likely estimates may come too close where rules find a cell
                              # sensitive; extra = 0.5: a constant in place of what they ask for
##keys = "measure"            # measure | cell: noise of two measures then cancels out; also
                              # measure = "turnover", the column's name before it was renamed;
                              # counts, small, odd = "t.csv": tables of the counts of the same
                              # cells, for small cells, for odd numbers of units
##[tables.noise]
##method = "controlled"       # deterministic | random | controlled | small_counts
##base = 5
##steps = 0                   # controlled: left out, the fewest that allow an additive table
##[tables.noise]
##method = "invariant"        # counts; no value gets rarer or more frequent; keys as above
##record_key = "key"
##largest = 20                # larger values are left alone
##max_noise = 3
##most_stay = 0.5
##exact = true                # or only on average
##[tables.noise]
##method = "adjustment"       # moves what [tables.rules] find sensitive by its level
##largest_change = 20         # percent, of other cells

# Cells that must stay published, one [[tables.frozen]] for each, with a code for every column.
#[[tables.frozen]]
#at = { region = "Total", size = "Total" }

# What an attacker knows beside the published table. Left out: its own contributions where
# values of a unit are summed, else nothing but the table.
[attacker]
#contributor = true           # knows its own contributions, and where nobody else is
#coalition = 1                # how many contributors pool what they know
#zeros_known = false          # that zeros are never suppressed
#relative = 50                # every value to within 50 percent
#previous_within = 20         # last period's release ("previous" of a table), and that no value
                              # changed by more than 20 percent
#mistaken = "refuse"          # refuse | drop: where that is wrong, an error, or no bound

# Figures made of what is published, one [[derived]] for each; suppressed where an input is.
#[[derived]]
#kind = "share"               # mean | share | growth | index
#tables = ["turnover"]        # mean: sum and count; share: one and of, or part and whole;
                              # growth: now and before; index: the periods
#of = ["region"]              # share: of the total along these columns
#name = "turnover_share"      # left out: the first table and the kind
#decimals = 1
#[[derived]]
#kind = "index"
#tables = ["turnover"]
#earlier = ["out-2020"]       # growth, index: folders of earlier releases with this table
#base = "2020"                # index: the vintage that is 100

[output]
folder = "out"                # gets public/ and internal/
#formats = ["csv", "xlsx"]    # csv (always) | parquet | xlsx | html: a report
#neutralise = true            # an apostrophe in CSV before what spreadsheets would run
#language = "en"              # en | de
#intervals = false            # publish a safe interval for every suppressed cell
#template = "layout.xlsx"      # a workbook in your own layout, to be filled
#ledger = "releases.db"       # protect beside all that was published before, and record this
#release = "2025-07"          # with "ledger": name of the release; left out: that of the folder
#combined = "all"             # one more file with all tables side by side
#symbols = "de-classic"       # de-classic | de-letters | sdmx | px | eurostat
"""


def template() -> str:
    """A commented job file with every key.

    Examples
    --------
    >>> template().splitlines()[0]
    '# A job for "diskret protect". Paths are seen from the folder of this file.'
    """
    return _TEMPLATE
