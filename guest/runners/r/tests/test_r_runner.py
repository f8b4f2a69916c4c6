"""What the R runner promises. Run: python3 test_r_runner.py [COMMAND OF THE RUNNER...]; exit code 0 = all of it holds."""

import base64
import os
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests"))

from driver import LIMIT, SEED, Case, SetUpCases, main  # noqa: E402


class Shown(Case):
    def texts(self, cell):
        return [event["data"].get("text/plain") for event in cell.of("result")]

    def shows(self, code, **options):
        cell = self.run_cell(code, **options)
        self.assertIsNone(cell.error, cell.events)
        return self.texts(cell)


class Contract(SetUpCases, Shown):
    endless = 'cat("in\\n"); Sys.sleep(300)'

    def test_print_is_one_chunk(self):
        cell = self.run_cell('print("Hello, World!")')
        self.assertEqual(cell.chunks, ['[1] "Hello, World!"\n'])
        self.assertEqual(cell.of("result"), [])

    def test_values_are_shown_and_are_not_main(self):
        cell = self.run_cell("x <- 1; x")
        self.assertEqual(self.texts(cell), ["[1] 1"])
        self.assertEqual([event["main"] for event in cell.of("result")], [False])
        self.assertEqual(cell.out, "")

    def test_working_directory(self):
        self.assertEqual(self.own(cwd="/usr").run("getwd()").of("result")[0]["data"]["text/plain"], '[1] "/usr"')

    def test_context_variables(self):
        self.assertEqual(self.own(env={"FOO": "bar"}).run('Sys.getenv("FOO")').of("result")[0]["data"]["text/plain"], '[1] "bar"')

    def test_variables_of_one_cell_are_gone_in_the_next(self):
        code = 'Sys.getenv("ONCE", "default")'
        self.assertEqual(self.shows(code, env={"ONCE": "bar"}), ['[1] "bar"'])
        self.assertEqual(self.shows(code), ['[1] "default"'])
        self.run_cell("stop()", env={"ONCE": "bar"})
        self.assertEqual(self.shows(code), ['[1] "default"'])

    def test_variables_of_one_cell_cover_those_of_the_context(self):
        self.assertEqual(self.runner.setup("/tmp", {"FOO": "bar"})["event"], "ready")
        self.assertEqual(self.run_cell('cat(Sys.getenv("FOO"))', env={"FOO": 'q"\\\n\u00e9'}).out, 'q"\\\n\u00e9')
        self.assertEqual(self.shows('Sys.getenv("FOO")'), ['[1] "bar"'])
        self.assertEqual(self.runner.setup("/tmp", {}, unset=["FOO"])["event"], "ready")
        self.assertEqual(self.shows('Sys.getenv("FOO", "none")'), ['[1] "none"'])

    def test_count_grows_for_cells_that_cannot_be_parsed_too(self):
        first = self.run_cell("a b").count
        self.assertEqual(self.run_cell("1").count, first + 1)

    def test_state_is_kept(self):
        self.run_cell("kept <- 1")
        self.assertEqual(self.shows("kept <- kept + 1; kept"), ["[1] 2"])

    def test_interrupt_of_a_long_sleep_keeps_the_state(self):
        self.run_cell("before <- 7")
        self.runner.begin('cat("in\\n"); Sys.sleep(300); cat("after\\n")')
        self.runner.until("out")
        self.runner.interrupt()
        cell = self.runner.finish()
        self.assertEqual(cell.error["name"], "Interrupt")
        self.assertNotIn("after", cell.out)
        self.assertEqual(self.shows("before"), ["[1] 7"])

    def test_same_seed_same_numbers_other_seed_others(self):
        def draw(seed):
            self.assertEqual(self.runner.setup("/tmp", {}, seed)["event"], "ready")
            return self.shows("runif(1)")

        self.assertEqual(draw(SEED), draw(SEED))
        self.assertNotEqual(draw(SEED), draw(SEED[::-1]))

    def test_lines_that_are_no_request_are_ignored(self):
        self.runner.write(b'{"op":"run","id":\n\nnonsense\n[1]\n3\n{"op":"fly"}\n{"op":"run"}\n{"op":"run","co\xff\n')
        self.assertEqual(self.shows("42"), ["[1] 42"])

    def test_end_of_requests_ends_runner_and_r_even_while_a_cell_is_busy(self):
        runner = self.own()
        pid = int(runner.run("cat(Sys.getpid())").out)
        runner.begin("repeat {}")
        runner.process.stdin.close()
        self.assertIsNotNone(runner.process.wait(LIMIT))
        runner.process.stdin = open(os.devnull, "wb")
        with self.assertRaises(ProcessLookupError):
            self.gone(pid)

    def gone(self, pid):
        for _ in range(1000):
            os.kill(pid, 0)
            if open("/proc/%d/stat" % pid).read().split()[2] == "Z":
                raise ProcessLookupError


class Values(Shown):
    def test_invisible_values_and_assignments_are_not_shown(self):
        self.assertEqual(self.shows("invisible(3); y <- 4; (y); NULL"), ["[1] 4", "NULL"])
        self.assertEqual(self.shows("f <- function() invisible(7); f(); library(stats); if (FALSE) 1"), [])

    def test_data_frames_and_matrices_are_tables_too(self):
        data = self.run_cell('data.frame(a = 1:2, b = c("x", "<y>|"))').of("result")[0]["data"]
        self.assertEqual(set(data), {"text/plain", "text/html", "text/markdown", "text/latex"})
        self.assertIn("<td>&lt;y&gt;|</td>", data["text/html"])
        self.assertIn("| 2 | 2 | <y>\\| |", data["text/markdown"])
        data = self.run_cell("matrix(1:4, 2)").of("result")[0]["data"]
        self.assertIn("<td>4</td>", data["text/html"])
        for code in ["data.frame()", "data.frame(a = integer(0))", "matrix(0, 0, 3)", "data.frame(a = 1:3)[2, , drop = FALSE]", "mtcars", "data.frame(a = I(list(1, 2:3)))", "table(c(1, 1, 2))", "as.data.frame(matrix(1, 3000, 30))"]:
            with self.subTest(code):
                cell = self.run_cell(code)
                self.assertIsNone(cell.error, cell.events)
                self.assertIn("text/plain", cell.of("result")[0]["data"])

    def test_s4_and_print_methods(self):
        self.assertEqual(self.shows('setClass("P", representation(x = "numeric")); setMethod("show", "P", function(object) cat("<P>\\n")); new("P", x = 1)'), ["<P>"])
        self.assertEqual(self.shows('print.mine <- function(x, ...) cat("mine\\n"); structure(1, class = "mine")'), ["mine"])
        cell = self.run_cell('print.bad <- function(x, ...) stop("no"); structure(1, class = "bad")')
        self.assertEqual((cell.error["name"], cell.error["value"]), ("Error", "no"))
        self.assertEqual(self.run_cell('print("still")').out, '[1] "still"\n')

    def test_order_of_text_and_values(self):
        cell = self.run_cell('cat("a\\n"); 1; cat("b\\n"); 2; message("c")')
        self.assertEqual([event["event"] for event in cell.events], ["out", "result", "out", "result", "err", "end"])

    def test_value_too_long_for_a_line_is_told(self):
        cell = self.run_cell('print.long <- function(x, ...) cat(strrep("\\u00e9", 8e6)); structure(1, class = "long")')
        self.assertIn("too long", cell.err)
        self.assertEqual(self.shows("1"), ["[1] 1"])


class Plots(Case):
    def plots(self, code):
        cell = self.run_cell(code)
        self.assertIsNone(cell.error, cell.events)
        found = [base64.b64decode(event["data"]["image/png"]) for event in cell.of("result") if "image/png" in event["data"]]
        for png in found:
            self.assertEqual(png[:8], b"\x89PNG\r\n\x1a\n")
            self.assertEqual(png[-8:-4], b"IEND")
        return found

    def test_base_graphics_one_result_for_a_plot_with_additions(self):
        pngs = self.plots("plot(1:10)\nlines(10:1)\ntitle('x')")
        self.assertEqual(len(pngs), 1)
        self.assertEqual(struct.unpack(">II", pngs[0][16:24]), (840, 840))

    def test_several_plots_in_a_cell(self):
        self.assertEqual(len(self.plots("for (i in 1:3) plot(i)\nhist(c(1, 2, 2))")), 4)

    def test_grid_and_ggplot(self):
        self.assertEqual(len(self.plots("grid::grid.newpage(); grid::grid.circle()")), 1)
        if self.run_cell('cat(requireNamespace("ggplot2", quietly = TRUE))').out == "TRUE":
            self.assertEqual(len(self.plots("library(ggplot2)\nggplot(mtcars, aes(wt, mpg)) + geom_point()")), 1)
            self.assertEqual(len(self.plots("p <- ggplot(mtcars, aes(wt, mpg)) + geom_line()")), 0)

    def test_no_plot_without_drawing_and_settings_stay(self):
        self.assertEqual(self.plots("par(mfrow = c(1, 2)); invisible()"), [])
        self.assertEqual(len(self.plots("plot(1); plot(2)")), 1)

    def test_own_devices_are_left_alone(self):
        self.assertEqual(self.plots('pdf(f <- tempfile()); plot(1)'), [])
        self.assertEqual(self.plots('plot(2); invisible(dev.off()); stopifnot(file.size(f) > 0)'), [])
        self.assertEqual(len(self.plots("plot(3); invisible(dev.off())")), 1)

    def test_plot_before_an_error_is_shown(self):
        cell = self.run_cell("plot(1); stop('x')")
        self.assertEqual([event["event"] for event in cell.events], ["result", "error", "end"])

    def test_size_can_be_chosen(self):
        pngs = self.plots("options(repr.plot.width = 4, repr.plot.height = 2, repr.plot.res = 100); plot(1)")
        self.assertEqual(struct.unpack(">II", pngs[0][16:24]), (400, 200))


class Errors(Case):
    def test_error_has_message_and_calls(self):
        cell = self.run_cell('cat("before\\n")\ninner <- function(x) stop("boom ", x)\nouter <- function() inner(1)\nouter()\ncat("after")')
        self.assertEqual(cell.out, "before\n")
        self.assertEqual((cell.error["name"], cell.error["value"]), ("Error", "boom 1"))
        self.assertEqual(cell.error["traceback"], 'Error in inner(1): boom 1\nTraceback:\n1. outer()\n2. inner(1)\n3. stop("boom ", x)\n')

    def test_unknown_names(self):
        self.assertEqual(self.run_cell("nowhere").error["value"], "object 'nowhere' not found")
        self.assertEqual(self.run_cell("library(nowhere)").error["name"], "packageNotFoundError")

    def test_conditions_of_cells(self):
        cell = self.run_cell('stop(structure(class = c("mine", "error", "condition"), list(message = "m", call = NULL)))')
        self.assertEqual((cell.error["name"], cell.error["value"]), ("mine", "m"))

    def test_cells_that_cannot_be_parsed(self):
        for code in ["a b", "f(", '"open', "}", "1 +"]:
            with self.subTest(code):
                self.assertEqual(self.run_cell(code).error["name"], "ParseError")

    def test_nothing(self):
        for code in ["", "# only a remark", "\n\n"]:
            with self.subTest(code):
                self.assertEqual([event["event"] for event in self.run_cell(code).events], ["end"])

    def test_warnings_and_messages_go_to_err(self):
        cell = self.run_cell('f <- function() warning("careful"); f(); message("hey"); suppressWarnings(f())')
        self.assertEqual(cell.err, "Warning message:\nIn f() : careful\nhey\n")
        self.assertEqual(self.run_cell("options(warn = 2); as.integer('x')").error["name"], "Error")
        self.assertIn("NAs introduced", self.run_cell("options(warn = 1); y <- as.integer('x')").err)
        self.run_cell("options(warn = 0)")

    def test_deep_recursion_is_an_error(self):
        cell = self.run_cell("deep <- function(n) deep(n + 1); deep(1)")
        self.assertIn("StackOverflow" if "Stack" in cell.error["name"] else "Error", cell.error["name"])
        cell = self.run_cell("options(expressions = 500000); deep(1)")
        self.assertIsNotNone(cell.error)
        self.run_cell("options(expressions = 5000)")
        self.assertEqual(self.run_cell('cat("on")').out, "on")

    def test_jumps_without_a_loop(self):
        for code in ["break", "next", "return(1)", "invokeRestart('abort')"]:
            with self.subTest(code):
                self.assertFalse(self.run_cell(code).died)
        self.assertEqual(self.run_cell('cat("on")').out, "on")

    def test_a_workspace_full_of_traps(self):
        names = "c list length print cat file close send run eval sprintf paste seq_len lapply vapply stop sink tryCatch".split()
        self.run_cell("; ".join("%s <- function(...) base::stop('trap')" % name for name in names) + "; T <- FALSE")
        self.assertEqual(self.run_cell("1 + 1").of("result")[0]["data"]["text/plain"], "[1] 2")
        self.run_cell("rm(list = ls())")
        self.assertEqual(self.run_cell("ls()").of("result")[0]["data"]["text/plain"], "character(0)")

    def test_closed_connections_and_sinks_left_open(self):
        self.run_cell("closeAllConnections()")
        self.run_cell("sink(tempfile()); cat('lost')")
        self.assertEqual(self.run_cell("3").of("result")[0]["data"]["text/plain"], "[1] 3")
        self.run_cell("sink()")
        self.assertEqual(self.run_cell("cat('back')").out, "back")


class Output(Case):
    def test_commands_print_into_the_cell(self):
        cell = self.run_cell('system("echo hi; echo bad >&2"); invisible(system2("echo", "two"))')
        self.assertEqual((cell.out, cell.err), ("hi\ntwo\n", "bad\n"))

    def test_output_comes_while_the_cell_runs(self):
        self.runner.begin('cat("now\\n"); Sys.sleep(300)')
        self.assertEqual(self.runner.until("out")["text"], "now\n")
        self.runner.interrupt()
        self.runner.finish()

    def test_standard_input_is_at_its_end(self):
        self.assertEqual(self.run_cell('cat(length(readLines("stdin")), length(readLines(stdin())), readline("?"))').out.split()[-2:], ["0", "0"])

    def test_text_of_the_world(self):
        cell = self.run_cell('cat("\u00e9\U0001f600\\n"); "\u4f60\u597d"; message("\u00fc"); n\u00e4me <- 1; n\u00e4me; nchar("\u00e9")')
        self.assertEqual((cell.out, cell.err), ("\u00e9\U0001f600\n", "\u00fc\n"))
        self.assertEqual([event["data"]["text/plain"] for event in cell.of("result")], ['[1] "\u4f60\u597d"', "[1] 1", "[1] 1"])

    def test_bytes_that_are_no_text_and_characters_cut_by_writes(self):
        cell = self.run_cell("system(\"printf '\\\\377'; printf '\\\\303'; sleep 0.1; printf '\\\\251'; printf '\\\\303'\")")
        self.assertEqual(cell.out, "\ufffd\u00e9\ufffd")

    def test_a_hundred_megabytes(self):
        cell = self.run_cell('line <- paste0(strrep("x", 1023), "\\n"); for (i in 1:102400) cat(line)')
        self.assertEqual(len(cell.out), 100 << 20)

    def test_ten_megabytes_of_cell(self):
        self.assertEqual(self.run_cell("# " + "x" * (10 << 20) + "\n5").of("result")[0]["data"]["text/plain"], "[1] 5")
        self.assertEqual(self.run_cell('nchar("' + "y" * (10 << 20) + '")').of("result")[0]["data"]["text/plain"], "[1] 10485760")

    def test_command_that_prints_for_ever_does_not_hold_the_end(self):
        pid = self.run_cell('system("yes & echo $!", intern = FALSE)').out.split("\n")
        self.assertEqual(self.run_cell("1").of("result")[0]["data"]["text/plain"], "[1] 1")
        number = next(line for line in pid if line.isdigit())
        self.run_cell("tools::pskill(%s, 9)" % number)

    def test_windows_line_ends(self):
        self.assertEqual(len(self.run_cell("1\r\n2\r\n").of("result")), 2)


class Interrupts(Case):
    def stops(self, code):
        self.runner.begin('cat("in\\n")\n' + code + '\ncat("after\\n")')
        self.runner.until("out")
        self.runner.interrupt()
        cell = self.runner.finish()
        self.assertIsNotNone(cell.error, cell.events)
        self.assertEqual(cell.error["name"], "Interrupt")
        self.assertNotIn("after", cell.out)
        self.assertEqual(self.run_cell("1 + 1").of("result")[0]["data"]["text/plain"], "[1] 2")

    def test_busy_loop(self):
        self.stops("repeat {}")

    def test_command(self):
        self.stops('system("sleep 300")')
        self.stops('for (i in 1:100) system("sleep 300")')
        self.stops('for (i in 1:100) system2("sleep", "300")')
        self.stops('x <- system("sleep 300; echo more", intern = TRUE)')

    def test_print_of_a_value(self):
        self.stops('print.slow <- function(x, ...) Sys.sleep(300); structure(1, class = "slow")')

    def test_loop_that_eats_errors(self):
        self.stops("repeat try(Sys.sleep(0.01), silent = TRUE)")

    def test_several_interrupts_and_one_between_cells(self):
        for _ in range(3):
            self.runner.interrupt()
        self.assertEqual(self.run_cell("cat(5)").out, "5")
        self.runner.begin('cat("in\\n"); repeat {}')
        self.runner.until("out")
        for _ in range(5):
            self.runner.interrupt()
        self.assertEqual(self.runner.finish().error["name"], "Interrupt")
        self.assertEqual(self.run_cell("cat(6)").out, "6")

    def test_no_interrupt_of_a_sleep_in_thousands_ends_it(self):
        """Two in quick succession end one R in about two thousand."""
        self.run_cell("kept <- 1")
        for _ in range(4000):
            self.runner.begin("Sys.sleep(300)")
            time.sleep(0.01)
            self.runner.interrupt()
            self.assertFalse(self.runner.finish().died)
        self.assertEqual(self.run_cell("cat(kept)").out, "1")


class Ends(Case):
    def test_quit_ends_the_runner_after_what_was_printed(self):
        runner = self.own()
        runner.begin('cat("last\\n"); quit(status = 3)')
        cell = runner.finish()
        self.assertTrue(cell.died)
        self.assertEqual(cell.out, "last\n")
        self.assertEqual(runner.process.wait(LIMIT), 3)

    def test_crash_of_r_ends_the_runner(self):
        runner = self.own()
        runner.begin("tools::pskill(Sys.getpid(), 9)")
        self.assertTrue(runner.finish().died)
        self.assertEqual(runner.process.wait(LIMIT), 137)


if __name__ == "__main__":
    main(["/usr/bin/python3", "-I", "-S", "/opt/cay/runners/r/runner.py"])
