# The words of tau-ARGUS that rtauargus passes on, as keys of a job file. Nothing is judged here.

#' "NK(1,85)|FREQ(3,10)" as a list of names with numbers.
commands_of <- function(text, argument) {
  parts <- trimws(strsplit(text, "|", fixed = TRUE)[[1]])
  parts <- parts[nzchar(parts)]
  lapply(parts, function(part) {
    if (!grepl("^[A-Za-z]+ *\\([^()]*\\)$", part)) {
      fail(said(
        paste0(argument, ": '", part, "' is not a rule or method with its numbers, e.g. NK(1,85)"),
        paste0(argument, ": '", part, "' ist keine Regel oder Methode mit ihren Zahlen, z. B. NK(1,85)")
      ))
    }
    inside <- sub("^[^(]*\\((.*)\\)$", "\\1", part)
    numbers <- suppressWarnings(as.numeric(strsplit(inside, ",", fixed = TRUE)[[1]]))
    if (!length(numbers) || anyNA(numbers)) {
      fail(said(
        paste0(argument, ": '", part, "' has something in it that is not a number"),
        paste0(argument, ": '", part, "' enth\u00e4lt etwas, das keine Zahl ist")
      ))
    }
    list(name = toupper(trimws(sub("\\(.*$", "", part))), numbers = numbers, text = part)
  })
}

#' A range of 0 percent asks for one unit of the last decimal, as every level does at least.
at_least <- function(range) if (range > 0) range else 1e-9

#' What safety_rules say: the rules of a job, and the range of cells that are given as secret.
rules_of <- function(safety_rules, ip, counts) {
  range <- ip
  rules <- list()
  add <- function(name, keys) rules[[name]] <<- c(rules[[name]], list(keys))
  for (one in commands_of(safety_rules, "safety_rules")) {
    n <- one$numbers
    takes <- list(MAN = 1, P = 2:3, NK = 2, FREQ = 2, ZERO = 1)[[one$name]]
    if (is.null(takes)) {
      known <- "MAN(range), P(p,n), NK(n,k), FREQ(n,range), ZERO(range)"
      fail(said(
        paste0("safety_rules: ", one$name, " cannot be used with a table of cells; known are ", known),
        paste0("safety_rules: ", one$name, " geht bei einer Tabelle von Feldern nicht; bekannt sind ", known)
      ))
    }
    if (!length(n) %in% takes) {
      fail(said(
        paste0("safety_rules: ", one$text, " has ", length(n), " numbers, and ", one$name,
          " takes ", paste(takes, collapse = " or ")),
        paste0("safety_rules: ", one$text, " hat ", length(n), " Zahlen, ", one$name,
          " braucht ", paste(takes, collapse = " oder "))
      ))
    }
    switch(one$name,
      MAN = range <- n[1],
      P = if (length(n) == 3) {
        add("pq", list(p = n[1], q = n[2], coalition = n[3]))
      } else {
        add("p_percent", list(p = n[1], coalition = n[2]))
      },
      NK = add("dominance", list(n = n[1], k = n[2], quiet = TRUE)),
      FREQ = add("minimum_frequency", if (counts) {
        list(n = n[1])
      } else {
        list(n = n[1], of = "records", range = at_least(n[2]))
      }),
      ZERO = add("zero_cells", list(level = n[1]))
    )
  }
  list(rules = rules, range = at_least(range))
}

#' What suppress says: a command of tau-ARGUS, or a method of diskret by its name.
method_of <- function(suppress) {
  if (is.null(suppress)) return(list(method = "auto"))
  if (!grepl("(", suppress, fixed = TRUE)) return(list(method = suppress))
  one <- commands_of(suppress, "suppress")[[1]]
  known <- c(MOD = "modular", OPT = "optimal", GH = "hypercube", NET = "network")
  if (!one$name %in% names(known)) {
    methods <- "auto, sequential, modular, optimal, hypercube, network"
    fail(said(
      paste0("suppress: ", one$text, " hides no cells; known are MOD, OPT, GH, NET, or a method of diskret: ", methods),
      paste0("suppress: ", one$text, " sperrt keine Felder; bekannt sind MOD, OPT, GH, NET, oder eine ",
        "Methode von diskret: ", methods)
    ))
  }
  limit <- if (one$name == "OPT" && length(one$numbers) > 1) 60 * one$numbers[2]
  c(list(method = unname(known[one$name])), if (!is.null(limit)) list(time_limit = limit))
}
