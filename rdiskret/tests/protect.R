# Tables go to diskret and come back, as their owner gave them. Needs diskret itself.
library(rdiskret)
if (!nzchar(Sys.which(Sys.getenv("DISKRET", "diskret")))) {
  if (nzchar(Sys.getenv("RDISKRET_REQUIRED"))) stop("diskret was not found: set DISKRET")
  message("left out: diskret was not found; set DISKRET to its path")
  quit("no")
}
if (!nzchar(Sys.getenv("DISKRET"))) Sys.unsetenv("DISKRET")
Sys.setenv(DISKRET_KEYS = file.path(tempdir(), "keys"))
caught <- function(expression) tryCatch({ expression; NULL }, error = identity)

turnover <- data.frame(
  activity = c("A1", "A1", "A2", "A2", "B1", "B1", "B2", "B2"),
  size = c("small", "large"),
  turnover = c(120, 450, 60, 310, 90, 520, 75, 280),
  firms = c(12, 5, 2, 6, 8, 4, 7, 2)
)
turnover$secret <- turnover$firms < 3
hrc <- file.path(tempdir(), "activity.hrc")
writeLines(c("A", "@A1", "@A2", "B", "@B1", "@B2"), hrc)

# the table of the page about rtauargus: two secret cells, and others that protect them
Sys.setenv(LD_LIBRARY_PATH = "/of/r/itself")
found <- tab_protect(turnover, c("activity", "size"), files_name = "turnover", hrc = c(activity = hrc),
  secret_var = "secret", value = "turnover", freq = "firms", suppress = "MOD(1,5,1,0,0)",
  split_tab = TRUE, output_type = 4)
stopifnot(
  identical(Sys.getenv("LD_LIBRARY_PATH"), "/of/r/itself"), # as it was for R
  identical(found[names(turnover)], turnover),
  identical(found$Status == "B", turnover$secret), sum(found$Status == "D") >= 2
)
release <- attr(found, "release")
stopifnot(isTRUE(verify(release)[1]))
public <- read_release(release)$turnover
own <- read_release(release, internal = TRUE)$turnover
stopifnot(
  nrow(public) == 21, # with the totals that were added up
  is.na(public$turnover[public$status == "suppressed"]), public$turnover[1] == 1905,
  all(public$status %in% c("published", "suppressed")), # which tells no primary from a secondary
  sum(own$status == "primary") == 2, own$turnover[own$activity == "A2" & own$size == "small"] == 60
)

# levels in percent: a range of 50 % asks for more than one of 10 %
level <- function(...) {
  found <- tab_protect(turnover, c("activity", "size"), hrc = c(activity = hrc), value = "turnover",
    freq = "firms", ...)
  own <- read_release(attr(found, "release"), internal = TRUE)$table
  own$upper_level[own$status == "primary"]
}
stopifnot(
  all(level(secret_var = "secret") == c(6, 28)),
  all(level(secret_var = "secret", ip = 50) == c(30, 140)),
  all(level(secret_no_pl = "secret") == 1),
  all(level(safety_rules = "FREQ(3,20)") == c(12, 56))
)

# letters tell the rules apart
one <- transform(turnover, largest = c(100, 100, 50, 60, 80, 100, 20, 160),
  second = c(19, 90, 10, 50, 5, 90, 10, 120))
letters <- tab_protect(one, c("activity", "size"), value = "turnover", freq = "firms", maxscore = "largest",
  safety_rules = "NK(1,85)|FREQ(3,10)")$Status
stopifnot(letters[c(3, 8)] == "A", letters[5] == "B") # 80 of 90 are more than 85 %
both <- tab_protect(one, c("activity", "size"), value = "turnover", freq = "firms",
  maxscore = c("largest", "second"), safety_rules = "NK(2,99)")$Status
stopifnot(both[1] == "C", both[5] != "C") # 119 of 120 are more than 99 %; 85 of 90 are not
stopifnot(tab_protect(one, c("activity", "size"), value = "turnover", freq = "firms",
  maxscore = c("largest", "second"), safety_rules = "P(5,1)")$Status[1] == "F")

# codes as they are: leading zeros, umlauts, quotes, NA as a code, factors, numbers
codes <- c("01", "1", "\u00c4rzte", "a \"b\", c", "x y", "NA", "x;y", strrep("\u00fc", 300))
odd <- data.frame(code = rep(codes, each = 2), year = factor(c("2024", "2025")))
odd$value <- c(3000000000, 123456789012345, 5, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150, 160, 170, 180)
odd$value[1] <- odd$value[1] + 0.5
odd$n <- c(2L, 5L)
odd$note <- list("kept") # a column that is none of ours
odd <- odd[sample(nrow(odd)), ]
names(odd)[1] <- "Schl\u00fcssel \"a\""
back <- tab_protect(odd, names(odd)[1:2], value = "value", freq = "n", safety_rules = "FREQ(3,10)")
stopifnot(
  identical(back[names(odd)], odd), all(back$Status[odd$n == 2] == "A"), all(back$Status[odd$n == 5] %in% c("D", "V"))
)
own <- read_release(attr(back, "release"), internal = TRUE)$table
at <- match(paste(odd[[1]], odd$year), paste(own[[1]], own$year))
stopifnot(own$value[at] == odd$value)
whole <- data.frame(year = 2023:2025, unit = c(100000, 200000, 1), value = c(7, 8, 9), freq = 9)
stopifnot(tab_protect(whole, c("year", "unit"), safety_rules = "FREQ(3,10)")$Status == "V")

# counts alone; a column of costs; nothing secret at all
counts <- data.frame(region = c("N", "S", "W", "O"), freq = c(7, 2, 5, 9))
stopifnot(tab_protect(counts, "region", value = NULL, safety_rules = "FREQ(3,0)")$Status[2] == "A")
priced <- cbind(turnover, price = 1)
priced$price[priced$activity == "A1"] <- 1000
cheap <- tab_protect(priced, c("activity", "size"), value = "turnover", freq = "firms", secret_var = "secret",
  cost_var = "price", suppress = "optimal")
stopifnot(cheap$Status[cheap$activity == "A1"] == "V", sum(cheap$Status == "D") == 2)
none <- tab_protect(transform(turnover, secret = FALSE), c("activity", "size"), value = "turnover",
  freq = "firms", secret_var = "secret")
stopifnot(none$Status == "V")

# several tables as one problem: the common cells have the same status in both
regions <- data.frame(region = c("N", "N", "S", "S", "W", "W", "Alle", "Alle"), sector = c("I", "K"),
  sales = c(310, 45, 280, 60, 190, 55, 780, 160), firms = c(9, 2, 8, 5, 7, 4, 24, 11))
total <- aggregate(cbind(sales, firms) ~ region, regions, sum)
regions <- rbind(regions, cbind(total, sector = "Total")[names(regions)])
forms <- data.frame(region = c("N", "N", "S", "S", "W", "W"), form = c("a", "b"),
  sales = c(200, 155, 170, 170, 125, 120), firms = c(6, 5, 7, 6, 6, 5))
both <- tab_multi(list(sectors = regions, forms = forms), list(c("region", "sector"), c("region", "form")),
  totcode = c(region = "Alle", sector = "Total", form = "Total"), value = "sales", freq = "firms",
  safety_rules = "FREQ(3,10)", ip_end = 0, num_iter_max = 10, files_name = "both")
stopifnot(
  identical(names(both), c("sectors", "forms")), both$sectors$Status[2] == "A",
  setdiff(names(both$sectors), names(regions)) == "Status",
  identical(names(read_release(attr(both$forms, "release"))), c("forms", "sectors"))
)

# what the command line says comes through as it is
error <- caught(tab_protect(rbind(turnover, turnover[1, ]), c("activity", "size"), value = "turnover",
  freq = "firms", secret_var = "secret"))
stopifnot(
  inherits(error, "diskret_input"), inherits(error, "diskret_error"), error$code == 1,
  grepl("1 cells are there more than once: activity = A1, size = small", conditionMessage(error), fixed = TRUE) ||
    grepl("there more than once", conditionMessage(error))
)
error <- caught(tab_protect(rbind(turnover, turnover[1, ]), c("activity", "size"), value = "turnover",
  freq = "firms", secret_var = "secret", language = "de"))
stopifnot(inherits(error, "diskret_input"), !grepl("there more than once", conditionMessage(error)))
write("x", file.path(release, "public", "turnover.csv"), append = TRUE)
error <- caught(verify(release))
stopifnot(inherits(error, "diskret_refused"), error$code == 3)
stopifnot(inherits(caught(verify(tempfile())), "diskret_error"), inherits(caught(read_release(tempdir())), "diskret_error"))

# a job file
folder <- tempfile("job")
dir.create(folder)
write.csv(counts, file.path(folder, "counts.csv"), row.names = FALSE)
job <- file.path(folder, "job.toml")
writeLines(c("[[tables]]", "name = \"firms\"", "by = { region = \"flat\" }",
  "cells = { file = \"counts.csv\", count = \"freq\" }", "rules = { minimum_frequency = { n = 3 } }",
  "[output]", "folder = \"Auswertung 1\"", "formats = [\"csv\"]"), job)
done <- protect_job(job)
stopifnot(basename(done$folder) == "Auswertung 1", nrow(read_release(done$folder)$firms) == 5)
elsewhere <- protect_job(job, folder = file.path(folder, "out"), language = "de")
stopifnot(verify(elsewhere$folder, language = "de"))
error <- caught(protect_job(file.path(folder, "none.toml")))
stopifnot(inherits(error, "diskret_error"))
