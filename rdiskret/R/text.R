# Data frames and settings as text, without loss.

#' Codes as they stand: no exponents, no NA made of a code that is called NA.
code_text <- function(x) {
  if (is.factor(x)) x <- as.character(x)
  text <- if (is.numeric(x)) number_text(x) else enc2utf8(as.character(x))
  text[is.na(x)] <- NA_character_
  text
}

#' The shortest decimal text that is the same number again.
number_text <- function(x) {
  if (inherits(x, "integer64")) x <- of_integer64(x)
  if (!is.numeric(x)) return(enc2utf8(as.character(x)))
  text <- sprintf("%.15g", x)
  again <- suppressWarnings(as.numeric(text))
  longer <- which(is.finite(x) & again != x)
  text[longer] <- sprintf("%.17g", x[longer])
  exponent <- grep("e", text, fixed = TRUE)
  text[exponent] <- vapply(text[exponent], without_exponent, "")
  text[is.na(x)] <- NA_character_
  text
}

#' 1.5e-07 is 0.00000015: the digits stay, the point moves.
without_exponent <- function(text) {
  sign <- if (startsWith(text, "-")) "-" else ""
  parts <- strsplit(sub("^-", "", text), "e", fixed = TRUE)[[1]]
  digits <- sub(".", "", parts[1], fixed = TRUE)
  point <- 1L + as.integer(parts[2])
  if (point <= 0) return(paste0(sign, "0.", strrep("0", -point), digits))
  if (point >= nchar(digits)) return(paste0(sign, digits, strrep("0", point - nchar(digits))))
  paste0(sign, substr(digits, 1, point), ".", substring(digits, point + 1))
}

#' The bits of an integer64 are those of a whole number; a double holds them up to 2^53.
of_integer64 <- function(x) {
  halves <- matrix(readBin(writeBin(as.numeric(unclass(x)), raw(), endian = "little"),
    "integer", 2 * length(x), endian = "little"), 2)
  missing <- is.na(halves[2, ]) & halves[1, ] == 0
  low <- ifelse(is.na(halves[1, ]), 2^31, halves[1, ] %% 2^32)
  value <- ifelse(missing, NA, halves[2, ] * 2^32 + low)
  if (any(abs(value) > 2^53, na.rm = TRUE)) {
    fail(said(
      "whole numbers above 2^53 lose digits in R; give the column as text: as.character(x)",
      "ganze Zahlen \u00fcber 2^53 verlieren in R Ziffern; geben Sie die Spalte als Text an: as.character(x)"
    ))
  }
  value
}

#' How many decimals values have, once what binary numbers add in the last place is left out.
decimals_of <- function(x, name) {
  if (is.character(x) || is.factor(x)) {
    after <- ifelse(grepl(".", x, fixed = TRUE), sub("^[^.]*\\.", "", x), "")
    return(max(0L, nchar(after), na.rm = TRUE))
  }
  if (inherits(x, "integer64")) return(0L)
  x <- x[is.finite(x)]
  for (decimals in 0:9) {
    rounded <- as.numeric(sprintf("%.*f", decimals, x))
    x <- x[abs(rounded - x) > .Machine$double.eps * abs(x)]
    if (!length(x)) return(decimals)
  }
  fail(said(
    paste0("the values of '", name, "' have more than 9 decimals, e.g. ", number_text(x[1]),
      "; say how many are published: decimals = 2"),
    paste0("die Werte von '", name, "' haben mehr als 9 Nachkommastellen, z. B. ", number_text(x[1]),
      "; geben Sie an, wie viele ver\u00f6ffentlicht werden: decimals = 2")
  ))
}

#' Write a data frame as CSV: every text quoted, missing values as empty fields.
write_cells <- function(columns, path) {
  quoted <- function(text) paste0("\"", gsub("\"", "\"\"", text, fixed = TRUE), "\"")
  fields <- lapply(columns, function(column) {
    text <- ifelse(is.na(column), "", quoted(column))
  })
  head <- paste(quoted(enc2utf8(names(columns))), collapse = ",")
  write_text(c(head, if (length(columns[[1]])) do.call(paste, c(unname(fields), sep = ","))), path)
}

write_text <- function(lines, path) {
  connection <- file(path, open = "wb")
  on.exit(close(connection))
  writeLines(enc2utf8(lines), connection, sep = "\n", useBytes = TRUE)
  invisible(path)
}

#' Settings as TOML; lists with names become inline tables, several values an array.
toml <- function(value) {
  if (is.list(value) && !is.null(names(value))) {
    inside <- vapply(names(value), function(key) paste(toml_text(key), "=", toml(value[[key]])), "")
    return(paste0("{ ", paste(inside, collapse = ", "), " }"))
  }
  if (is.list(value)) return(paste0("[", paste(vapply(value, toml, ""), collapse = ", "), "]"))
  one <- if (is.logical(value)) {
    tolower(as.character(value))
  } else if (is.numeric(value)) {
    number_text(value)
  } else {
    toml_text(value)
  }
  if (inherits(value, "AsIs")) paste0("[", paste(one, collapse = ", "), "]") else one
}

toml_text <- function(text) {
  text <- gsub("\"", "\\\"", gsub("\\", "\\\\", enc2utf8(text), fixed = TRUE), fixed = TRUE)
  for (number in c(1:31, 127)) {
    sign <- intToUtf8(number)
    text <- gsub(sign, sprintf("\\u%04X", number), text, fixed = TRUE)
  }
  paste0("\"", text, "\"")
}
