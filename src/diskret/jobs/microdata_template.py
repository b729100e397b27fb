"""A job file for microdata to start from."""

_TEMPLATE = """\
# A job for "diskret anonymize"; confidential. Paths are seen from the folder of this file.
# Lines that begin with "#" and a key are options with their defaults or examples.

[records]
path = "persons.csv"          # .parquet or .csv

[roles]                       # a column without a role is not released
keys = ["region", "age", "sex", "occupation"]   # what an attacker may know of a person
#numeric = ["income"]         # numbers that an attacker may know
#weight = "w"                 # how many persons of the population a record stands for
#household = "hid"            # whose members are recognised together
#sensitive = ["diagnosis"]    # what an attacker must not learn
#strata = ["state"]           # groups that are protected apart
#id = "number"                # replaced before the release
#identifiers = ["name"]       # never released
#followers = { occupation = ["isco"] }  # tells the same in more detail, suppressed with the key
#orders = { health = ["good", "fair", "poor"] }  # from the lowest to the highest: text has no order

# What to do, in this order.
[[steps]]
do = "recode"                 # categories or classes; one kind of recoding a step
variable = "age"
width = 5
#top = 85

#[[steps]]
#do = "drop"                  # columns that are not wanted
#columns = ["year"]

#[[steps]]
#do = "remove_identifiers"    # columns that name persons, at once

#[[steps]]
#do = "generalise"            # the combination of levels that loses least and leaves k records
#hierarchies = { age = [5, 10, 20] }
#k = 3

[[steps]]
do = "local_suppression"      # as few values as possible, until k records share every combination
k = 3
#importance = ["sex", "age"]  # the most important first: suppressed last

#[[steps]]
#do = "pram"                  # values are exchanged at random
#variables = ["occupation"]
#seed = 1

#[[steps]]
#do = "microaggregate"        # groups of records show the means of their numbers
#variables = ["income"]
#k = 3
#method = "mdav"

#[[steps]]
#do = "add_noise"             # numbers change by random amounts; means and covariances stay
#method = "restricted"
#share = 0.1                  # of the standard deviation
#seed = 2

#[[steps]]
#do = "rank_swap"             # numbers are exchanged between records of similar rank
#variables = ["income"]
#window = 0.05                # of the ranks
#seed = 3

#[[steps]]
#do = "shuffle"               # numbers change places, and fit others as well as before
#variables = ["income"]
#given = ["age"]
#seed = 4

#[[steps]]
#do = "swap"                  # pairs of records exchange values
#variables = ["region"]
#within = ["age", "sex"]      # strata in which they are exchanged
#probability = 0.05
#targets = 3                  # in any case whose keys fewer than so many records have
#seed = 1

#[[steps]]
#do = "swap_records"          # whole households change places, those at risk first
#geography = ["state", "region"]   # from coarse to fine
#similar = [["size"]]         # in which both agree; several lists are tried one after another
#k = 3                        # at risk: fewer than so many in the area have their keys
#rate = 0.05                  # share of the households that change places
#seed = 1

#[[steps]]
#do = "top_code"              # the largest values become their mean
#variable = "income"
#share = 0.01
#k = 3                        # at least so many records behind a mean

#[[steps]]
#do = "top_code_together"     # records that are far out in several variables at once
#variables = ["income", "wealth"]
#quantile = 0.975

#[[steps]]
#do = "dp_noise"              # noise that is differentially private; needs OpenDP
#variables = ["income"]
#epsilon = 1
#bounds = { income = [0, 20000] }

#[[steps]]
#do = "safe"                  # every combination not at all or often enough; the last step
#tables = [["region", "age"], { up_to = 2, of = ["age", "sex", "occupation"] }]
#minimum = 3
#seed = 1                     # "diskret safe --template" shows more

# What must hold before anything is written.
[release]
folder = "out"
#name = "persons"             # beginning of the file names
#formats = ["csv", "html"]    # csv, parquet; html: reports
#neutralise = true            # an apostrophe in CSV before what spreadsheets would run
#language = "en"              # en | de: of the reports
#title = "Survey of persons, 2026"
#attributes = ["year"]        # public columns without a role
#shuffle = true               # in an order drawn with the office's keys
#weight = true                # with the sampling weight
#household = false            # with new numbers of households; also id = false
#level = "factual"            # formal | factual | absolute: claim what is usual there

[release.claims]
k_anonymity = { k = 3 }
#risk_below = { threshold = 0.1 }   # of every record
#expected_below = { rate = 0.01 }   # on average
#k_map = { k = 5, population = "register.csv" }
#l_diversity = { l = 2 }            # this and the next four: of sensitive columns
#t_closeness = { t = 0.2 }
#alpha_k = { alpha = 0.5, k = 3 }
#beta_likeness = { beta = 1 }
#delta_disclosure = { delta = 1 }
#safe = { minimum = 3, largest = 9 } # after the step "safe", and alone
#no_identifiers = {}                # checked in any case
"""


def template() -> str:
    """A commented job file for ``diskret anonymize``."""
    return _TEMPLATE
