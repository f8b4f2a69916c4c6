# Evaluates R cells for runner.py, which says what goes over descriptors 3 and 4. Everything lives in an environment of its own above
# base R, so that nothing a cell defines can get in its way, and nothing of it lies in the user's workspace.
local({
  digits <- 16L

  # Opened anew for every message: a cell may close all connections there are.
  read_exactly <- function(con, count) {
    bytes <- readBin(con, "raw", count)
    if (length(bytes) < count) quit(save = "no", runLast = FALSE)
    bytes
  }

  read_number <- function(con) as.numeric(rawToChar(read_exactly(con, digits)))

  receive <- function() {
    con <- file("/dev/fd/3", "rb", raw = TRUE)
    on.exit(close(con))
    lengths <- vapply(seq_len(read_number(con)), function(i) read_number(con), 0)
    vapply(lengths, function(length) {
      text <- rawToChar(read_exactly(con, length))
      Encoding(text) <- "UTF-8"
      text
    }, "")
  }

  send <- function(...) {
    fields <- lapply(list(...), function(field) if (is.raw(field)) field else charToRaw(enc2utf8(field)))
    head <- sprintf("%016.0f", c(length(fields), lengths(fields)))
    con <- file("/dev/fd/4", "wb", raw = TRUE)
    on.exit(close(con))
    writeBin(c(charToRaw(paste(head, collapse = "")), unlist(fields)), con)
    invisible()
  }

  # Waits until the result was taken, so that what is printed next comes after it.
  send_result <- function(data) {
    if (length(data) == 0) return(invisible())
    do.call(send, c("result", as.list(rbind(names(data), unname(data)))))
    con <- file("/dev/fd/3", "rb", raw = TRUE)
    on.exit(close(con))
    read_exactly(con, 1L)
    invisible()
  }

  # ---- values --------------------------------------------------------------------------------------------------------

  # What a value prints, as text. A sink that printing leaves behind is taken away again.
  printed <- function(value) {
    con <- rawConnection(raw(0), "wb")
    depth <- sink.number()
    sink(con)
    on.exit({
      while (sink.number() > depth) sink()
      close(con)
    })
    print_for_user(value)
    while (sink.number() > depth) sink()
    bytes <- rawConnectionValue(con)
    text <- rawToChar(if (length(bytes) > 0 && bytes[length(bytes)] == 0x0a) bytes[-length(bytes)] else bytes)
    Encoding(text) <- "UTF-8"
    text
  }

  # Called from below the workspace, where methods that cells define are found.
  print_for_user <- function(value) {
    frame <- new.env(parent = globalenv())
    assign("x", value, frame)
    eval(as.call(list(if (isS4(value)) methods::show else print, quote(x))), frame)
  }

  most_rows <- 60L
  most_columns <- 20L

  escape_html <- function(text) {
    for (pair in list(c("&", "&amp;"), c("<", "&lt;"), c(">", "&gt;"))) text <- gsub(pair[1], pair[2], text, fixed = TRUE)
    text
  }

  escape_latex <- function(text) {
    text <- gsub("\\", "\\textbackslash ", text, fixed = TRUE)
    text <- gsub("([&%$#_{}])", "\\\\\\1", text)
    gsub("^", "\\^{}", gsub("~", "\\~{}", text, fixed = TRUE), fixed = TRUE)
  }

  # The cells of a data frame or matrix as texts, with names in the first row and column.
  cells <- function(value) {
    value <- value[seq_len(min(nrow(value), most_rows)), seq_len(min(ncol(value), most_columns)), drop = FALSE]
    frame <- as.data.frame(value, stringsAsFactors = FALSE)
    body <- vapply(frame, function(column) {
      text <- tryCatch(format(column, trim = TRUE, justify = "none"), error = function(e) rep("?", nrow(frame)))
      if (is.null(dim(text)) && length(text) == nrow(frame)) as.character(text) else rep("...", nrow(frame))
    }, character(nrow(frame)))
    body <- matrix(as.character(body), nrow = nrow(frame), ncol = ncol(frame))
    rbind(c("", names(frame)), cbind(row.names(frame), body))
  }

  tables <- function(value) {
    text <- cells(value)
    row_html <- function(row, tag) paste0("<tr>", paste0("<", tag, ">", escape_html(row), "</", tag, ">", collapse = ""), "</tr>")
    html <- c(
      "<table>", "<thead>", row_html(text[1, ], "th"), "</thead>", "<tbody>",
      apply(text[-1, , drop = FALSE], 1, function(row) sub("</td>", "</th>", sub("<td>", "<th>", row_html(row, "td")))),
      "</tbody>", "</table>"
    )
    row_markdown <- function(row) paste0("| ", paste(gsub("|", "\\|", row, fixed = TRUE), collapse = " | "), " |")
    markdown <- c(
      row_markdown(text[1, ]), paste0("|", strrep(" --- |", ncol(text))),
      apply(text[-1, , drop = FALSE], 1, row_markdown)
    )
    row_latex <- function(row) paste(paste(escape_latex(row), collapse = " & "), "\\\\")
    latex <- c(
      sprintf("\\begin{tabular}{%s}", strrep("l", ncol(text))), row_latex(text[1, ]), "\\hline",
      apply(text[-1, , drop = FALSE], 1, row_latex), "\\end{tabular}"
    )
    list(
      "text/html" = paste(html, collapse = "\n"), "text/markdown" = paste(markdown, collapse = "\n"),
      "text/latex" = paste(latex, collapse = "\n")
    )
  }

  # The ways a value can be shown. One that draws prints nothing and is no text.
  rendered <- function(value) {
    text <- printed(value)
    data <- if (nzchar(text)) list("text/plain" = text) else list()
    more <- tryCatch(
      if (is.data.frame(value) || (is.matrix(value) && !is.list(value))) tables(value)
      else if (inherits(value, "html") && is.character(value)) list("text/html" = paste(value, collapse = "\n")),
      error = function(e) NULL
    )
    c(data, more)
  }

  # ---- plots ---------------------------------------------------------------------------------------------------------

  # Devices that were opened because something was drawn: number, and where their pages go.
  devices <- list()
  opened <- 0L

  open_device <- function(...) {
    opened <<- opened + 1L
    directory <- file.path(tempdir(), sprintf("plots-%d", opened))
    dir.create(directory, showWarnings = FALSE)
    pages <- file.path(directory, "%05d.png")
    grDevices::png(pages,
      width = getOption("repr.plot.width", 7), height = getOption("repr.plot.height", 7), units = "in",
      res = getOption("repr.plot.res", 120), type = "cairo"
    )
    devices[[length(devices) + 1L]] <<- list(number = grDevices::dev.cur(), pages = pages, directory = directory)
    invisible()
  }

  is_open <- function(device) {
    known <- get(".Devices", envir = baseenv())
    device$number <= length(known) && identical(attr(known[[device$number]], "filepath"), device$pages)
  }

  # Sends finished pages. A page is finished when the next one began or its device was closed, which the end of a cell does; a device
  # on which nothing was drawn stays, with the settings it was opened for.
  send_plots <- function(at_end) {
    rest <- list()
    for (device in devices) {
      open <- is_open(device)
      pages <- sort(list.files(device$directory, full.names = TRUE))
      if (open && at_end && length(pages) > 0) {
        grDevices::dev.off(device$number)
        open <- FALSE
      }
      for (page in if (open) pages[-length(pages)] else pages) {
        send_result(list("image/png" = readBin(page, "raw", file.size(page))))
        unlink(page)
      }
      if (open) rest[[length(rest) + 1L]] <- device else unlink(device$directory, recursive = TRUE)
    }
    devices <<- rest
  }

  # ---- cells ---------------------------------------------------------------------------------------------------------

  evaluate <- function(expression) withVisible(eval(expression, globalenv()))

  one_line <- function(call) {
    text <- paste(trimws(deparse(call, nlines = 3L)), collapse = " ")
    if (nchar(text) > 200) paste0(substr(text, 1, 200), "...") else text
  }

  # What stands between this file and the code of a cell.
  own_call <- quote(eval(expression, globalenv()))
  is_call_of <- function(call, names) is.name(call[[1]]) && as.character(call[[1]]) %in% names

  # The calls between the cell and the handler that asks.
  user_calls <- function(calls) {
    begins <- which(vapply(calls, is_call_of, NA, c("evaluate", "rendered")))
    calls <- calls[-seq_len(max(0L, begins))]
    while (length(calls) > 0 && is_call_of(calls[[1]], c("withVisible", "eval", "printed", "print_for_user"))) calls <- calls[-1]
    handles <- which(vapply(calls, is_call_of, NA, c(".handleSimpleError", "h")))
    if (length(handles) > 0) calls[seq_len(handles[1] - 1L)] else calls
  }

  call_of <- function(problem) {
    call <- conditionCall(problem)
    if (is.null(call) || identical(call, own_call)) NULL else call
  }

  trace <- function(problem, calls) {
    call <- call_of(problem)
    where <- if (is.null(call)) "" else paste0(" in ", one_line(call))
    lines <- paste0("Error", where, ": ", conditionMessage(problem))
    if (length(calls) > 100) calls <- c(calls[1:50], list(quote(...)), calls[(length(calls) - 48):length(calls)])
    if (length(calls) > 0) lines <- c(lines, "Traceback:", paste0(seq_along(calls), ". ", vapply(calls, one_line, "")))
    paste0(paste(lines, collapse = "\n"), "\n")
  }

  error_name <- function(problem) {
    name <- class(problem)[1]
    if (name %in% c("simpleError", "error")) "Error" else name
  }

  warn <- function(w) {
    if (!identical(as.integer(getOption("warn")), 0L)) return()
    call <- call_of(w)
    where <- if (is.null(call)) "" else paste0("In ", one_line(call), " : ")
    cat("Warning message:\n", where, conditionMessage(w), "\n", sep = "", file = stderr())
    tryInvokeRestart("muffleWarning")
  }

  # The file that runner.py makes when it hears an interrupt: R itself is deaf to it while it waits for a command.
  interrupted <- file.path(tempdir(), "interrupted")

  heed <- function() {
    if (file.exists(interrupted)) stop(structure(class = c("interrupt", "condition"), list(message = "interrupted", call = NULL)))
  }

  # Makes a function of base R that runs commands look for that file before and after.
  make_heed <- function(name) {
    original <- get(name, baseenv())
    heeding <- original
    body(heeding) <- as.call(list(as.name("{"), call("on.exit", as.call(list(heed))), as.call(list(heed)), body(original)))
    environment(heeding) <- environment(original)
    unlockBinding(name, baseenv())
    assign(name, heeding, baseenv())
    lockBinding(name, baseenv())
  }

  # The expressions of a cell one after the other, each shown before the next begins.
  evaluate_all <- function(expressions) {
    for (expression in expressions) {
      heed()
      shown <- allowInterrupts(evaluate(expression))
      if (shown$visible) {
        value <- shown$value
        data <- allowInterrupts(rendered(value))
        send_result(data)
      }
      send_plots(FALSE)
    }
  }

  # NULL, or what is to be said of how it ended: name, value, traceback.
  attempt <- function(code) {
    calls <- list()
    interrupt <- c("Interrupt", "the cell was interrupted", "Interrupt: the cell was interrupted\n")
    tryCatch(
      withRestarts({
        expressions <- tryCatch(parse(text = code, keep.source = TRUE, encoding = "UTF-8"), error = function(e) {
          stop(structure(class = c("ParseError", "error", "condition"), list(message = conditionMessage(e), call = NULL)))
        })
        withCallingHandlers(evaluate_all(expressions),
          warning = warn,
          error = function(e) calls <<- tryCatch(user_calls(sys.calls()), error = function(e) list())
        )
        if (file.exists(interrupted)) interrupt
      }, abort = function() c("Error", "the cell was aborted", "Error: the cell was aborted\n")),
      interrupt = function(i) interrupt,
      error = function(e) {
        message <- tryCatch(paste(conditionMessage(e), collapse = "\n"), error = function(e) "")
        c(error_name(e), message, tryCatch(trace(e, calls), error = function(e) message))
      }
    )
  }

  set_variables <- function(pairs) {
    if (length(pairs) > 0) do.call(Sys.setenv, as.list(pairs))
  }

  pairs <- function(fields) {
    odd <- seq_along(fields) %% 2 == 1
    stats::setNames(fields[!odd], fields[odd])
  }

  run <- function(fields) {
    # An interrupt that came too late for the cell before must not hit this one.
    tryCatch(allowInterrupts(for (i in 1:3) Sys.sleep(0)), interrupt = function(i) NULL)
    unlink(interrupted)
    variables <- pairs(fields[-1])
    before <- Sys.getenv(names(variables), unset = NA, names = TRUE)
    set_variables(variables)
    trouble <- attempt(fields[1])
    tryCatch(send_plots(TRUE), error = function(e) cat("a plot cannot be shown: ", conditionMessage(e), "\n", sep = "", file = stderr()))
    if (!is.null(trouble)) send("error", trouble[1], trouble[2], trouble[3])
    if (length(before) > 0) {
      Sys.unsetenv(names(before)[is.na(before)])
      set_variables(before[!is.na(before)])
    }
    flush(stdout())
    send("done")
  }

  setup <- function(fields) {
    gone <- fields[3 + seq_len(as.integer(fields[3]))]
    if (length(gone) > 0) Sys.unsetenv(gone)
    set_variables(pairs(fields[-seq_len(3 + length(gone))]))
    seed <- strtoi(substr(fields[2], 1, 7), 16L)
    if (nzchar(fields[2]) && !is.na(seed)) set.seed(seed)
    if (nzchar(fields[1]) && !tryCatch({ setwd(fields[1]); TRUE }, error = function(e) FALSE)) {
      return(send("refused", paste("cannot enter the directory", fields[1])))
    }
    send("ready")
  }

  options(device = open_device)
  for (name in c("system", "system2")) make_heed(name)
  send("interrupts", interrupted)
  suspendInterrupts(repeat {
    fields <- receive()
    if (fields[1] == "run") run(fields[-1]) else setup(fields[-1])
  })
}, envir = new.env(parent = baseenv()))
