tab_protect <- function(tabular, explanatory_vars, files_name = "table", dir_name = NULL,
                        totcode = "Total", hrc = NULL, secret_var = NULL, secret_no_pl = NULL,
                        cost_var = NULL, value = "value", freq = "freq", ip = 10, maxscore = NULL,
                        suppress = NULL, safety_rules = paste0("MAN(", ip, ")"),
                        summary_secret = FALSE, ..., decimals = NULL, budget = NULL,
                        time_limit = NULL, who = Sys.info()[["user"]], language = NULL) {
  speak(language)
  check_further(list(...))
  one <- described(
    files_name, tabular, explanatory_vars, totcode, hrc, secret_var, secret_no_pl, cost_var,
    value, freq, maxscore
  )
  found <- protect_tables(
    list(one), folder_of(dir_name), files_name, safety_rules, ip, suppress, decimals, budget,
    time_limit, who, language
  )[[1]]
  if (summary_secret) told(list(found))
  found
}

tab_multi <- function(list_tables, list_explanatory_vars, dir_name = NULL, hrc = NULL,
                      alt_hrc = NULL, totcode = "Total", alt_totcode = NULL, value = "value",
                      freq = "freq", secret_var = NULL, secret_no_pl = NULL, cost_var = NULL,
                      maxscore = NULL, suppress = NULL, ip_start = 10,
                      safety_rules = paste0("MAN(", ip_start, ")"), summary_secret = FALSE, ...,
                      files_name = "tables", decimals = NULL, budget = NULL, time_limit = NULL,
                      who = Sys.info()[["user"]], language = NULL) {
  speak(language)
  further <- list(...)
  check_further(further[setdiff(names(further), c("ip_end", "num_iter_max"))])
  names <- names(list_tables)
  if (!is.list(list_tables) || is.data.frame(list_tables) || is.null(names) || any(!nzchar(names))) {
    fail(said(
      "list_tables is a list of data frames, each with a name: list(T1 = first, T2 = second)",
      "list_tables ist eine Liste von data.frames, jeder mit einem Namen: list(T1 = erste, T2 = zweite)"
    ))
  }
  if (!is.list(list_explanatory_vars)) list_explanatory_vars <- rep(list(list_explanatory_vars), length(names))
  if (is.null(names(list_explanatory_vars))) names(list_explanatory_vars) <- names
  for (argument in c("list_explanatory_vars", "alt_hrc", "alt_totcode")) {
    strange <- setdiff(names(get(argument)), names)
    if (length(strange)) {
      fail(said(
        paste0(argument, ": there is no table '", strange[1], "'"),
        paste0(argument, ": es gibt keine Tabelle '", strange[1], "'")
      ))
    }
  }
  missing <- setdiff(names, names(list_explanatory_vars))
  if (length(missing)) {
    fail(said(
      paste0("list_explanatory_vars says nothing of table '", missing[1], "'"),
      paste0("list_explanatory_vars sagt nichts zu Tabelle '", missing[1], "'")
    ))
  }
  tables <- lapply(names, function(name) {
    by <- list_explanatory_vars[[name]]
    described(
      name, list_tables[[name]], by, replaced(of_each(totcode, if (is.null(names(totcode))) by else
        intersect(names(totcode), by), "totcode"), alt_totcode[[name]], by),
      replaced(as.list(hrc), as.list(alt_hrc[[name]]), by), secret_var, secret_no_pl, cost_var,
      value, freq, maxscore
    )
  })
  found <- protect_tables(
    tables, folder_of(dir_name), files_name, safety_rules, ip_start, suppress, decimals, budget,
    time_limit, who, language
  )
  names(found) <- names
  if (summary_secret) told(found)
  found
}

#' The same with what is said for this table in particular.
replaced <- function(usual, own, by) {
  strange <- setdiff(names(own), by)
  if (length(strange)) {
    fail(said(
      paste0("a table that is not broken down by '", strange[1], "' has it in alt_hrc or alt_totcode"),
      paste0("eine Tabelle, die nicht nach '", strange[1], "' gegliedert ist, hat es in alt_hrc oder alt_totcode")
    ))
  }
  usual[names(own)] <- own
  usual
}

folder_of <- function(dir_name) if (is.null(dir_name)) tempfile("diskret") else path.expand(dir_name)

#' How many cells of each status there are.
told <- function(tables) {
  letters <- c("A", "B", "C", "F", "D", "V")
  for (name in names(tables) %||% "table") {
    one <- if (is.null(names(tables))) tables[[1]] else tables[[name]]
    number <- table(factor(one$Status, letters))
    number <- number[number > 0]
    message(name, ": ", paste(names(number), number, sep = " ", collapse = ", "))
  }
}

`%||%` <- function(x, y) if (is.null(x)) y else x

protect_job <- function(job, folder = NULL, language = NULL) {
  speak(language)
  shown <- run(c("protect", path.expand(job), if (!is.null(folder)) c("--folder", path.expand(folder))), language)
  if (is.null(folder)) {
    folder <- sub("^.*diskret verify ", "", grep("diskret verify ", shown, value = TRUE, fixed = TRUE))
  }
  invisible(list(folder = folder, shown = shown))
}

verify <- function(folder, release = NULL, internal = NULL, language = NULL) {
  speak(language)
  earlier <- unlist(lapply(release, function(one) c("--release", path.expand(one))))
  own <- if (!is.null(internal)) c("--internal", path.expand(internal))
  shown <- run(c("verify", path.expand(folder), own, earlier), language)
  invisible(structure(TRUE, shown = shown))
}

read_release <- function(folder, internal = FALSE) {
  speak(NULL)
  folder <- path.expand(folder)
  public <- if (dir.exists(file.path(folder, "public"))) file.path(folder, "public") else folder
  about <- list.files(public, "[.]structure[.]json$", full.names = TRUE)
  if (!length(about)) {
    fail(said(
      paste0("there is no release of tables in ", folder),
      paste0("es gibt keine Ver\u00f6ffentlichung von Tabellen in ", folder)
    ))
  }
  names <- sub("[.]structure[.]json$", "", basename(about))
  tables <- lapply(seq_along(names), function(i) {
    shown <- read_cells(file.path(public, paste0(names[i], ".csv")))
    codes <- seq_len(match(measure_of(about[i]), names(shown)) - 1)
    if (internal) shown <- read_cells(file.path(folder, "internal", paste0(names[i], ".cells.csv")))
    numbers <- setdiff(seq_along(shown), c(codes, match(c("status", "rule"), names(shown))))
    for (column in numbers) {
      given <- shown[[column]]
      given[!nzchar(given)] <- NA
      shown[[column]] <- type.convert(given, as.is = TRUE, numerals = "no.loss")
    }
    shown
  })
  names(tables) <- names
  tables
}

#' The column of the values, as the file about the structure names it.
measure_of <- function(path) {
  line <- grep("^ \"measure\": ", text_lines(path), value = TRUE)[1]
  text <- sub("\",?$", "", sub("^ \"measure\": \"", "", line))
  gsub("\\\\([\"\\\\])", "\\1", text)
}

#' A CSV file with every field as text; an empty one is empty.
read_cells <- function(path) {
  if (!file.exists(path)) fail(said(paste0("there is no file ", path), paste0("es gibt keine Datei ", path)))
  read.csv(
    path, colClasses = "character", na.strings = character(), check.names = FALSE,
    encoding = "UTF-8", strip.white = FALSE, fill = FALSE, blank.lines.skip = FALSE
  )
}
