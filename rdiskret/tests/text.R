# Numbers and codes become text and back without loss.
library(rdiskret)
number_text <- rdiskret:::number_text
decimals_of <- rdiskret:::decimals_of
toml <- rdiskret:::toml

stopifnot(
  identical(number_text(c(1e5, 1e15, 123456789012345, 2^53, -2^40)),
    c("100000", "1000000000000000", "123456789012345", "9007199254740992", "-1099511627776")),
  identical(number_text(c(0.1, 1e-7, -1.5e-5, 0, 5e9)), c("0.1", "0.0000001", "-0.000015", "0", "5000000000")),
  identical(number_text(c(NA, 3L, .Machine$integer.max)), c(NA, "3", "2147483647")),
  identical(number_text(1166951.4229000001), "1166951.4229000001")
)
set.seed(1)
many <- c(runif(2000), 10^runif(2000, -12, 22), -2^(1:80), .Machine$double.eps, 1e22)
text <- number_text(many)
stopifnot(identical(as.numeric(text), many), !grepl("[eE]", text))

stopifnot(
  decimals_of(c(1166951.4229000001, 5), "x") == 4, # as binary arithmetic leaves it
  decimals_of(0.1 + 0.2, "x") == 1, decimals_of(c(1, 2, NA), "x") == 0,
  decimals_of(123456789012345.67, "x") == 2, decimals_of(9007199254740992, "x") == 0,
  decimals_of(c("1.50", "2"), "x") == 2, decimals_of(numeric(), "x") == 0
)

# an integer64 is made of the bits of a whole number
bits <- function(low, high) {
  structure(readBin(writeBin(c(low, high), raw(), endian = "little"), "double", 1, endian = "little"), class = "integer64")
}
stopifnot(
  identical(number_text(bits(5L, 1L)), "4294967301"),
  identical(number_text(bits(-1L, 0L)), "4294967295"),
  identical(number_text(bits(-5L, -1L)), "-5")
)

stopifnot(
  identical(toml(list(a = 1, b = "C:\\x \"y\"", c = TRUE)), "{ \"a\" = 1, \"b\" = \"C:\\\\x \\\"y\\\"\", \"c\" = true }"),
  identical(toml(I("one")), "[\"one\"]"),
  identical(toml("a\nb"), "\"a\\u000Ab\"")
)
