# What goes wrong comes through as a condition of R, with the message as it is.
library(rdiskret)

for (name in c("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG")) Sys.unsetenv(name) # English, wherever this runs
caught <- function(expression) tryCatch({ expression; NULL }, error = identity)
cells <- data.frame(region = c("N", "S"), value = c(10, 20), freq = c(2, 5))

before <- Sys.getenv("DISKRET")
Sys.setenv(DISKRET = "/nowhere/diskret")
error <- caught(tab_protect(cells, "region", safety_rules = "FREQ(3,10)"))
stopifnot(inherits(error, "diskret_missing"), grepl("'/nowhere/diskret' is not a program", conditionMessage(error)))
Sys.setenv(DISKRET = before)

said <- list(
  "no column 'town'" = quote(tab_protect(cells, "town", safety_rules = "FREQ(3,10)")),
  "there is no argument 'hcr'" = quote(tab_protect(cells, "region", hcr = "x")),
  "safety_rules: REQ cannot be used" = quote(tab_protect(cells, "region", safety_rules = "REQ(1,2,3)")),
  "NK takes 2" = quote(tab_protect(cells, "region", safety_rules = "NK(1)")),
  "'often' is not a rule" = quote(tab_protect(cells, "region", safety_rules = "often")),
  "nothing says which cells are secret" = quote(tab_protect(cells, "region")),
  "RND(1,5) hides no cells" = quote(tab_protect(cells, "region", safety_rules = "FREQ(3,10)", suppress = "RND(1,5)")),
  "row 2: the code is missing" =
    quote(tab_protect(transform(cells, region = c("N", NA)), "region", safety_rules = "FREQ(3,10)")),
  "row 1: neither TRUE nor FALSE" =
    quote(tab_protect(transform(cells, secret = c(NA, TRUE)), "region", secret_var = "secret")),
  "there is no file nowhere.hrc" =
    quote(tab_protect(cells, "region", hrc = c(region = "nowhere.hrc"), safety_rules = "FREQ(3,10)")),
  "more than 9 decimals" =
    quote(tab_protect(transform(cells, value = c(1 / 3, 1)), "region", safety_rules = "FREQ(3,10)")),
  "each with a name" = quote(tab_multi(list(cells), list("region"))),
  "alt_hrc: there is no table 'T9'" =
    quote(tab_multi(list(T1 = cells), list("region"), alt_hrc = list(T9 = c(region = "x"))))
)
german <- list(
  "hat keine Spalte 'town'; es gibt 'region', 'value', 'freq'" =
    quote(tab_protect(cells, "town", safety_rules = "FREQ(3,10)", language = "de")),
  "es gibt kein Argument 'hcr'" = quote(tab_protect(cells, "region", hcr = "x", language = "de")),
  "Zeile 2: der Schl\u00fcssel fehlt" =
    quote(tab_protect(transform(cells, region = c("N", NA)), "region", safety_rules = "FREQ(3,10)", language = "de")),
  "NK braucht 2" = quote(tab_protect(cells, "region", safety_rules = "NK(1)", language = "de")),
  "jeder mit einem Namen" = quote(tab_multi(list(cells), list("region"), language = "de"))
)
said <- c(said, german)
for (part in names(said)) {
  error <- caught(eval(said[[part]]))
  stopifnot(inherits(error, "diskret_arguments"), grepl(part, conditionMessage(error), fixed = TRUE))
}

# without the argument in the language of the session; the argument comes first
Sys.setenv(LANG = "de_AT.UTF-8")
stopifnot(
  grepl("es gibt keine Ver\u00f6ffentlichung", conditionMessage(caught(read_release(tempdir()))), fixed = TRUE),
  grepl("is not a data frame", conditionMessage(caught(tab_protect(1, "x", language = "en"))), fixed = TRUE)
)
