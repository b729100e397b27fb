# The four tables of rtauargus in one call: no more is hidden than was found before. Needs reference data.
library(rdiskret)
folder <- file.path(Sys.getenv("DISKRET_REFERENCE_DATA"), "data", "tauargus", "rtauargus")
if (!nzchar(Sys.which(Sys.getenv("DISKRET", "diskret"))) || !dir.exists(folder)) {
  if (nzchar(Sys.getenv("DISKRET_REFERENCE_DATA"))) stop("DISKRET or the reference data were not found")
  message("left out: DISKRET_REFERENCE_DATA does not name the reference data")
  quit("no")
}
if (!nzchar(Sys.getenv("DISKRET"))) Sys.unsetenv("DISKRET")
Sys.setenv(DISKRET_KEYS = file.path(tempdir(), "keys"))

by <- list(
  act_size = c("ACTIVITY", "SIZE"), act_cj = c("ACTIVITY", "CJ"),
  nuts_size = c("NUTS", "SIZE"), nuts_cj = c("NUTS", "CJ")
)
tables <- lapply(names(by), function(name) {
  texts <- rep("character", 2)
  names(texts) <- by[[name]]
  read.csv(file.path(folder, paste0("turnover_", name, ".csv")), colClasses = texts)
})
names(tables) <- names(by)
tree <- function(file) read.csv(file.path(folder, file), colClasses = "character")
trees <- list(ACTIVITY = tree("activity_corr_table.csv"), NUTS = tree("nuts23_fr_corr_table.csv"))

found <- tab_multi(tables, by, hrc = trees, value = "TOT", freq = "N_OBS", maxscore = "MAX",
  safety_rules = "NK(1,85)|FREQ(3,10)", suppress = "optimal", budget = 2000)
primaries <- vapply(found, function(one) sum(one$Status %in% c("A", "B")), 0L)
secondaries <- do.call(rbind, lapply(found, function(one) one[one$Status == "D", c("Status", "TOT")]))
stopifnot(
  identical(unname(primaries), c(77L, 60L, 72L, 65L)),
  nrow(secondaries) <= 311, sum(secondaries$TOT) < 228054025,
  verify(attr(found$act_size, "release"))
)
