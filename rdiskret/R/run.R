# Running the command line, and turning what it says into conditions of R.

#' The program: an option, a variable of the environment, or what the path has.
program <- function() {
  set <- getOption("rdiskret.diskret", Sys.getenv("DISKRET", ""))
  found <- Sys.which(if (nzchar(set)) path.expand(set) else "diskret")
  if (nzchar(found)) return(unname(found))
  where <- if (nzchar(set)) {
    said(paste0("'", set, "' is not a program"), paste0("'", set, "' ist kein Programm"))
  } else {
    said("diskret was not found", "diskret wurde nicht gefunden")
  }
  how <- said(
    "install it (pip install diskret), and say where it is if it is not on the path",
    "installieren Sie es (pip install diskret) und geben Sie an, wo es ist, wenn es nicht im Pfad liegt"
  )
  fail(
    paste0(where, ": ", how, ": options(rdiskret.diskret = \"/path/to/diskret\")"), "diskret_missing"
  )
}

#' Run diskret and return what it shows, line by line.
#'
#' Its warnings become warnings, its notes messages, and an error an error with the message as it is.
run <- function(arguments, language = NULL) {
  command <- program()
  if (!is.null(language)) arguments <- c(arguments, "--language", language)
  shown <- tempfile("shown")
  told <- tempfile("told")
  on.exit(unlink(c(shown, told)))
  code <- in_clean_environment(
    system2(command, shQuote(arguments), stdout = shown, stderr = told)
  )
  said <- text_lines(told)
  warned <- grepl(warning_prefix, said)
  for (line in sub(warning_prefix, "", said[warned])) warning(line, call. = FALSE)
  said <- said[!warned]
  if (code != 0) {
    text <- sub(error_prefix, "", paste(trimws(said, "right"), collapse = "\n"))
    if (!nzchar(text)) {
      text <- paste(said("diskret ended with the code", "diskret endete mit dem Code"), code)
    }
    kind <- switch(as.character(code), "1" = "diskret_input", "3" = "diskret_refused", "diskret_usage")
    fail(text, kind, code)
  }
  for (line in said[nzchar(said)]) message(line)
  text_lines(shown)
}

error_prefix <- "^(Error|Fehler): "
warning_prefix <- "^(Warning|Warnung): "

#' R sets LD_LIBRARY_PATH for itself; with it another program loads R's libraries in place of its own.
in_clean_environment <- function(expression) {
  ours <- c(COLUMNS = "1000", PYTHONUTF8 = "1", PYTHONIOENCODING = "utf-8")
  names <- c("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "PYTHONHOME", names(ours))
  before <- Sys.getenv(names, unset = NA, names = TRUE)
  on.exit({
    there <- !is.na(before)
    Sys.unsetenv(names[!there])
    if (any(there)) do.call(Sys.setenv, as.list(before[there]))
  })
  Sys.unsetenv(names)
  do.call(Sys.setenv, as.list(ours))
  force(expression)
}

text_lines <- function(path) {
  lines <- readLines(path, warn = FALSE, encoding = "UTF-8")
  sub("\r$", "", lines)
}

#' The language of messages of this package: the argument, else that of the session, as R's own.
spoken <- new.env(parent = emptyenv())

speak <- function(language) {
  if (is.null(language)) {
    set <- Sys.getenv(c("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"))
    language <- set[nzchar(set)][1]
  }
  spoken$german <- isTRUE(grepl("^de($|[_.:@-])", language))
}

#' A message in the language that was chosen.
said <- function(english, german) if (isTRUE(spoken$german)) german else english

fail <- function(text, kind = "diskret_arguments", code = NA_integer_) {
  stop(structure(
    class = c(kind, "diskret_error", "error", "condition"),
    list(message = text, call = NULL, code = code)
  ))
}
