# From the arguments of rtauargus to a job file with its cells, and back to the user's rows.

#' Arguments of rtauargus about the way of tau-ARGUS, which say nothing here.
without_meaning <- c(
  "output_type", "unif_labels", "split_tab", "nb_tab_option", "limit", "separator",
  "show_batch_console", "import", "verbose", "tauargus_exe"
)

check_further <- function(further) {
  unknown <- setdiff(names(further), without_meaning)
  if (length(further) && (is.null(names(further)) || any(!nzchar(names(further))))) {
    fail(said(
      "arguments after the first ones need their names",
      "Argumente nach den ersten brauchen ihre Namen"
    ))
  }
  if (length(unknown)) {
    fail(said(
      paste0("there is no argument '", unknown[1], "'"),
      paste0("es gibt kein Argument '", unknown[1], "'")
    ))
  }
}

#' One table as the user gave it.
described <- function(name, tabular, by, totcode, hrc, secret_var, secret_no_pl, cost_var,
                      value, freq, maxscore) {
  if (!is.data.frame(tabular)) {
    fail(said(
      paste0("table '", name, "' is not a data frame"),
      paste0("Tabelle '", name, "' ist kein data.frame")
    ))
  }
  wanted <- c(by, value, freq, maxscore, secret_var, secret_no_pl, cost_var)
  missing <- setdiff(wanted, names(tabular))
  if (length(missing)) {
    there <- paste0("'", names(tabular), "'", collapse = ", ")
    fail(said(
      paste0("table '", name, "' has no column '", missing[1], "'; it has ", there),
      paste0("Tabelle '", name, "' hat keine Spalte '", missing[1], "'; es gibt ", there)
    ))
  }
  if (!length(by)) {
    fail(said(
      paste0("table '", name, "' needs explanatory_vars, the columns of its codes"),
      paste0("Tabelle '", name, "' braucht explanatory_vars, die Spalten ihrer Schl\u00fcssel")
    ))
  }
  for (column in by) {
    blank <- which(is.na(tabular[[column]]))
    if (length(blank)) {
      fail(said(
        paste0("table '", name, "', column '", column, "', row ", blank[1], ": the code is missing; ",
          "write the code of the total, or that of a category for what is not known"),
        paste0("Tabelle '", name, "', Spalte '", column, "', Zeile ", blank[1], ": der Schl\u00fcssel fehlt; ",
          "geben Sie den Schl\u00fcssel der Summe an, oder den einer Auspr\u00e4gung f\u00fcr Unbekanntes")
      ))
    }
  }
  list(
    name = name, tabular = tabular, by = by, totcode = of_each(totcode, by, "totcode"),
    hrc = as.list(hrc)[intersect(names(hrc), by)], secret = marked(tabular, secret_var, name),
    bare = marked(tabular, secret_no_pl, name), secret_var = secret_var,
    secret_no_pl = secret_no_pl, cost_var = cost_var, value = value, freq = freq, maxscore = maxscore
  )
}

#' One text for every column, or one for each by name.
of_each <- function(given, by, argument) {
  if (is.null(names(given))) {
    if (length(given) != 1) {
      fail(said(
        paste0(argument, " is one text, or one for each column by its name"),
        paste0(argument, " ist ein Text, oder einer f\u00fcr jede Spalte mit deren Namen")
      ))
    }
    return(named(rep(given, length(by)), by))
  }
  missing <- setdiff(by, names(given))
  if (length(missing)) {
    fail(said(
      paste0(argument, " does not name '", missing[1], "'"),
      paste0(argument, " nennt '", missing[1], "' nicht")
    ))
  }
  given[by]
}

named <- function(x, names) {
  names(x) <- names
  x
}

#' Which rows a column of TRUE and FALSE marks; none if there is no such column.
marked <- function(tabular, column, name) {
  if (is.null(column)) return(rep(FALSE, nrow(tabular)))
  given <- tabular[[column]]
  if (is.numeric(given) && all(given %in% c(0, 1))) given <- given == 1
  if (!is.logical(given)) {
    fail(said(
      paste0("table '", name, "', column '", column, "' must be TRUE or FALSE"),
      paste0("Tabelle '", name, "', Spalte '", column, "' muss TRUE oder FALSE sein")
    ))
  }
  if (anyNA(given)) {
    row <- which(is.na(given))[1]
    fail(said(
      paste0("table '", name, "', column '", column, "', row ", row, ": neither TRUE nor FALSE"),
      paste0("Tabelle '", name, "', Spalte '", column, "', Zeile ", row, ": weder TRUE noch FALSE")
    ))
  }
  given
}

#' Write the job, protect its tables, and give every table its status.
protect_tables <- function(tables, folder, stem, safety_rules, ip, suppress, decimals, budget,
                           time_limit, who, language) {
  dir.create(folder, showWarnings = FALSE, recursive = TRUE)
  if (!dir.exists(folder)) {
    fail(said(
      paste0("the folder ", folder, " cannot be made"),
      paste0("der Ordner ", folder, " kann nicht angelegt werden")
    ))
  }
  folder <- normalizePath(folder, winslash = "/")
  counts <- is.null(tables[[1]]$value)
  rules <- rules_of(safety_rules, ip, counts)
  search <- method_of(suppress)
  if (!is.null(time_limit)) search$time_limit <- time_limit
  if (!is.null(budget)) search$budget <- budget
  if (!counts && is.null(decimals)) {
    decimals <- max(vapply(tables, function(one) decimals_of(one$tabular[[one$value]], one$value), 0))
  }
  written <- lapply(tables, function(one) {
    job_table(one, folder, stem, rules, search, decimals, who)
  })
  lines <- c(
    "[hierarchies]", unlist(lapply(written, `[[`, "trees")), "",
    unlist(lapply(written, `[[`, "table")),
    "[output]", paste("folder =", toml(stem)), "formats = [\"csv\"]",
    if (!is.null(language)) paste("language =", toml(language))
  )
  job <- write_text(lines, file.path(folder, paste0(stem, ".toml")))
  release <- file.path(folder, stem)
  run(c("protect", job, "--folder", release), language)
  alone <- all(vapply(rules$rules$dominance, function(one) one$n == 1, NA))
  lapply(tables, function(one) with_status(one, release, alone))
}

#' The sections of a table in the job, and the files that it names.
job_table <- function(one, folder, stem, rules, search, decimals, who) {
  file_of <- function(what, suffix = ".csv") {
    file.path(folder, paste0(stem, ".", one$name, ".", what, suffix))
  }
  codes <- named(lapply(one$by, function(column) code_text(one$tabular[[column]])), one$by)
  numbers <- c(one$value, one$freq, one$maxscore, one$cost_var)
  numbers <- lapply(named(numbers, numbers), function(name) number_text(one$tabular[[name]]))
  write_cells(c(codes, numbers), file_of("cells"))
  cells <- list(file = basename(file_of("cells")), format = "csv")
  cells$count <- one$freq
  if (length(one$maxscore)) cells$largest <- I(one$maxscore)
  cells$cost <- one$cost_var

  trees <- character()
  by <- lapply(one$by, function(column) {
    tree <- one$hrc[[column]]
    if (is.null(tree)) return(list(flat = TRUE, total = one$totcode[[column]]))
    list(hierarchy = paste0(one$name, ".", column))
  })
  names(by) <- one$by
  for (column in names(one$hrc)) {
    tree <- list(file = tree_file(one$hrc[[column]], file_of(paste0("tree_", match(column, one$by)))))
    if (is.data.frame(one$hrc[[column]])) tree$levels <- I(names(one$hrc[[column]]))
    tree$total <- one$totcode[[column]]
    trees <- c(trees, paste(toml_text(paste0(one$name, ".", column)), "=", toml(tree)))
  }

  judged <- rules$rules
  given <- list(
    secret = list(rows = one$secret & !one$bare, range = rules$range, from = one$secret_var),
    bare = list(rows = one$bare, range = at_least(0), from = one$secret_no_pl)
  )
  for (what in names(given)) {
    list_of <- given[[what]]
    if (is.null(list_of$from)) next
    text <- lapply(codes, function(code) code[list_of$rows])
    said <- c(status = "unsafe", reason = list_of$from, who = who, date = format(Sys.Date()))
    write_cells(c(text, lapply(said, rep, sum(list_of$rows))), file_of(what))
    entry <- list(file = basename(file_of(what)), range = list_of$range)
    judged$apriori <- c(judged$apriori, list(entry))
  }
  if (!length(judged)) {
    rules <- "safety_rules = \"NK(1,85)|FREQ(3,10)\""
    fail(said(
      paste0("table '", one$name, "': nothing says which cells are secret; give secret_var, or rules: ", rules),
      paste0("Tabelle '", one$name, "': nichts sagt, welche Felder geheim sind; geben Sie secret_var an, ",
        "oder Regeln: ", rules)
    ))
  }
  table <- list(name = one$name, by = by)
  table$value <- one$value
  if (!is.null(one$value)) table <- c(table, list(decimals = decimals, round_values = TRUE))
  table <- c(table, search, list(cells = cells, rules = judged))
  list(
    trees = trees,
    table = c("[[tables]]", paste(vapply(names(table), toml_text, ""), "=",
      vapply(table, toml, "")), "")
  )
}

#' The path of a tree; one that is a data frame is written beside the job.
tree_file <- function(tree, path) {
  if (is.data.frame(tree)) {
    write_cells(lapply(tree, code_text), path)
    return(basename(path))
  }
  if (!is.character(tree) || length(tree) != 1) {
    fail(said(
      "hrc names a file for each column, or gives a data frame with a column for each level",
      "hrc nennt f\u00fcr jede Spalte eine Datei, oder einen data.frame mit einer Spalte f\u00fcr jede Ebene"
    ))
  }
  if (!file.exists(tree)) {
    fail(said(paste0("hrc: there is no file ", tree), paste0("hrc: es gibt keine Datei ", tree)))
  }
  normalizePath(tree, winslash = "/")
}

#' The user's own rows and columns, and what became of each cell.
with_status <- function(one, release, alone) {
  found <- read_cells(file.path(release, "internal", paste0(one$name, ".cells.csv")))
  key <- function(columns) do.call(paste, c(lapply(unname(columns), code_text), sep = "\x1f"))
  at <- match(key(as.list(one$tabular)[one$by]), key(found[one$by]))
  status <- letter_of(found$status, found$rule, alone)[at]
  if (anyNA(status)) {
    row <- which(is.na(status))[1]
    fail(said(
      paste0("table '", one$name, "': row ", row, " is not in the release"),
      paste0("Tabelle '", one$name, "': Zeile ", row, " ist nicht in der Ver\u00f6ffentlichung")
    ))
  }
  one$tabular[["Status"]] <- status
  attr(one$tabular, "release") <- release
  one$tabular
}

#' The letters of tau-ARGUS: what is published is V, a secondary D, a primary that of its rule; of what
#' is secret by hand, and of dominance if it is judged of one contributor alone, B.
letter_of <- function(status, rule, alone) {
  first <- sub("[^a-z_].*$", "", rule)
  primary <- c(minimum_frequency = "A", p_percent = "F", pq = "F", dominance = if (alone) "B" else "C")[first]
  primary[is.na(primary)] <- "B"
  letters <- ifelse(status == "primary", primary, ifelse(status == "secondary", "D", "V"))
  unname(letters)
}
