# What runs in the sandbox where a script is written in R: `inside.py` hands over records and script.
# It knows `data` and gives results, like Python's, as one line of JSON; whatever it prints goes
# elsewhere.

local({
  # To load packages, R asks the shell where programs are, which needs pipes: there are no programs.
  unlockBinding("system", baseenv())
  assign("system", function(command, intern = FALSE, ...) if (intern) character() else 127L, baseenv())
  for (name in c("datasets", "utils", "grDevices", "graphics", "stats", "methods")) {
    library(name, character.only = TRUE)
  }
  asked <- commandArgs(trailingOnly = TRUE)
  classes <- strsplit(asked[[2]], ",", fixed = TRUE)[[1]]
  records <- read.csv(file("stdin"),
    colClasses = classes, na.strings = "", check.names = FALSE, encoding = "UTF-8"
  )
  results <- list()

  text <- function(one) {
    one <- gsub("([\"\\\\])", "\\\\\\1", enc2utf8(as.character(one)))
    paste0("\"", gsub("[[:cntrl:]]", "?", one), "\"")
  }
  number <- function(one) ifelse(is.finite(one), sprintf("%.17g", one), "null")
  add <- function(name, cells, values, errors, adds_up) {
    names <- vapply(cells, function(cell) paste(text(cell), collapse = ","), "")
    figures <- sprintf("[[%s],%s,%s]", names, number(values), errors)
    results[[length(results) + 1]] <<- sprintf(
      "%s:{\"figures\":[%s],\"adds_up\":%s}",
      text(name), paste(figures, collapse = ","), if (adds_up) "true" else "false"
    )
  }

  # Named numbers, or a table of any number of variables: cells, or the heights of bars.
  give_table <- function(name, values, adds_up = FALSE) {
    cells <- if (is.null(dim(values))) {
      as.list(names(values))
    } else {
      grid <- expand.grid(dimnames(values), stringsAsFactors = FALSE)
      lapply(seq_len(nrow(grid)), function(at) unlist(grid[at, ]))
    }
    add(name, cells, as.numeric(values), "null", isTRUE(adds_up))
  }
  # A fitted model: coefficients and their standard errors.
  give_model <- function(name, fit) {
    found <- coef(summary(fit))
    add(name, as.list(rownames(found)), found[, 1], number(found[, 2]), FALSE)
  }

  sink(stderr())
  world <- new.env(parent = globalenv())
  world$data <- records
  world$give_table <- give_table
  world$give_model <- give_model
  sys.source(asked[[1]], world)
  sink()
  cat("{\"results\":{", paste(unlist(results), collapse = ","), "}}", sep = "")
})
