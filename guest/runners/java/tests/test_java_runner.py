"""What the Java runner promises. Run: python3 test_java_runner.py [COMMAND OF THE RUNNER...]; exit code 0 = all of it holds."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests"))

from driver import LIMIT, SEED, Case, SetUpCases, main  # noqa: E402


class Contract(SetUpCases, Case):
    endless = 'System.out.println("in"); Thread.sleep(300_000);'

    def test_println_gives_the_line_and_its_end_as_two_chunks(self):
        self.assertEqual(self.run_cell('System.out.println("Hello, World!")').chunks, ["Hello, World!", "\n"])

    def test_working_directory_is_a_property_and_the_quotes_are_left_to_the_node(self):
        runner = self.own(cwd="/usr")
        self.assertEqual(runner.run('System.getProperty("user.dir")').text, '"/usr"')
        self.assertEqual(runner.run('Path.of("").toAbsolutePath().toString()').text, '"/usr"')
        self.assertEqual(runner.run('new File("bin").exists()').text, "true")

    def test_context_variables_are_properties(self):
        runner = self.own(env={"FOO": "bar"})
        self.assertEqual(runner.run('System.getProperty("FOO")').text, '"bar"')

    def test_variables_of_one_cell_are_gone_in_the_next(self):
        self.assertEqual(self.value('System.getProperty("ONCE", "default")', env={"ONCE": "bar"}), '"bar"')
        self.assertEqual(self.value('System.getProperty("ONCE", "default")'), '"default"')

    def test_variables_of_one_cell_cover_those_of_the_context(self):
        runner = self.own(env={"FOO": "bar"})
        self.assertEqual(runner.run('System.getProperty("FOO")', env={"FOO": 'q"\\\n'}).text, '"q"\\\n"')
        self.assertEqual(runner.run('System.getProperty("FOO")').text, '"bar"')
        runner.run("throw new Error()", env={"FOO": "x"})
        self.assertEqual(runner.run('System.getProperty("FOO")').text, '"bar"')

    def test_count_grows_for_cells_that_cannot_be_compiled_too(self):
        first = self.run_cell("int int int").count
        self.assertEqual(self.run_cell("1").count, first + 1)

    def test_state_is_kept(self):
        self.run_cell("int kept = 1")
        self.assertEqual(self.value("kept += 1; kept"), "2")

    def test_interrupt_of_a_long_sleep_keeps_the_state(self):
        self.run_cell("int before = 7;")
        self.runner.begin('System.out.println("in"); Thread.sleep(300_000); System.out.println("after");')
        self.runner.until("out")
        self.runner.interrupt()
        cell = self.runner.finish()
        self.assertEqual(cell.error["name"], "InterruptedException")
        self.assertNotIn("after", cell.out)
        self.assertEqual(self.value("before"), "7")

    def test_setup_again_sets_and_removes(self):
        runner = self.own(env={"A": "1", "B": "2"})
        self.assertEqual(runner.setup("/tmp", {"A": "3"}, unset=["B"])["event"], "ready")
        self.assertEqual(runner.run('System.getProperty("A") + System.getProperty("B")').text, '"3null"')

    def test_same_seed_same_numbers_other_seed_others(self):
        def draw(seed):
            return self.own(seed=seed).run("Math.random()").text

        one, same, other = draw(SEED), draw(SEED), draw(SEED[::-1])
        self.assertEqual(one, same)
        self.assertNotEqual(one, other)

    def test_lines_that_are_no_request_are_ignored(self):
        self.runner.write(b'{"op":"run","id":\n\nnonsense\n[1]\n{"op":"fly"}\n{"op":"run","co\xff\n')
        self.assertEqual(self.value("40 + 2"), "42")

    def test_end_of_requests_ends_the_runner_even_while_a_cell_is_busy(self):
        runner = self.own()
        runner.begin("while (true) {}")
        runner.process.stdin.close()
        self.assertIsNotNone(runner.process.wait(LIMIT))
        runner.process.stdin = open(os.devnull, "wb")


class Values(Case):
    def test_values_of_all_kinds(self):
        for code, text in [
            ("1 + 1", "2"),
            ('"a\\nb\\"c"', '"a\nb"c"'),
            ("'x'", "'x'"),
            ("new int[] {1, 2}", "int[2] { 1, 2 }"),
            ("List.of(1, 2)", "[1, 2]"),
            ('Map.of("a", 1)', "{a=1}"),
            ("(String) null", "null"),
            ("true;", "true"),
            ("int w = 5; w", "5"),
            ('"\\u00e9\\ud83d\\ude00"', '"\u00e9\U0001f600"'),
            ("IntStream.range(0, 3).boxed().toList() // why\n/* not */", "[0, 1, 2]"),
        ]:
            with self.subTest(code):
                self.assertEqual(self.value(code), text)

    def test_no_value_for_statements_declarations_and_nothing(self):
        for code in ["int a = 1;", "void g() {}", "for (int i = 0; i < 2; i++) {}", "", "  // only a remark", "int b; b = 3;", "System.gc()"]:
            with self.subTest(code):
                cell = self.run_cell(code)
                self.assertIsNone(cell.error)
                self.assertEqual(cell.of("result"), [])

    def test_only_the_last_expression_is_a_result(self):
        self.assertEqual(len(self.run_cell("1; 2; 3").of("result")), 1)

    def test_cell_of_imports_records_classes_methods_and_statements(self):
        cell = self.run_cell(
            """
            import java.time.Duration;

            // A remark
            record Point(int x, int y) { int sum() { return x + y; } }
            interface Shape { double area(); }
            class Square implements Shape {
                final double side;
                Square(double side) { this.side = side; }
                public double area() { return side * side; }
            }
            enum Colour { RED, GREEN }
            <T> List<T> twice(T one) { return List.of(one, one); }
            static int helper(int n) { return n <= 1 ? 1 : n * helper(n - 1); }

            Shape shape = new Square(3);
            int total = 0;
            for (var colour : Colour.values()) {
                total += colour.ordinal();
            }
            if (total > 0)
                System.out.println("more");
            new Point(helper(4), total).sum() + (int) shape.area() + twice(Duration.ZERO).size()
            """
        )
        self.assertIsNone(cell.error, cell.events)
        self.assertEqual(cell.text, str(24 + 1 + 9 + 2))
        self.assertEqual(cell.out, "more\n")

    def test_forward_references_inside_a_cell(self):
        cell = self.run_cell("int even(int n) { return n == 0 ? 1 : odd(n - 1); }\nint odd(int n) { return n == 0 ? 0 : even(n - 1); }\neven(10)")
        self.assertEqual((cell.text, cell.err), ("1", ""))

    def test_declaring_again(self):
        self.run_cell('int again = 1; String name() { return "old"; } class K { int v() { return 1; } }')
        cell = self.run_cell('String again = "x"; String name() { return "new"; } class K { int v() { return 2; } } again + name() + new K().v()')
        self.assertEqual(cell.text, '"xnew2"')

    def test_toString_that_throws_is_an_error_of_the_cell(self):
        cell = self.run_cell('class Bad { public String toString() { throw new IllegalStateException("no"); } } new Bad()')
        self.assertEqual((cell.error["name"], cell.error["value"]), ("IllegalStateException", "no"))
        self.assertEqual(self.value("1"), "1")

    def test_class_of_a_cell_has_its_own_name(self):
        self.assertRegex(self.value("class Plain {} new Plain()"), r"^Plain@[0-9a-f]+$")

    def test_two_classes_of_cells_meeting_in_a_variable_of_a_loop(self):
        cell = self.run_cell(
            """
            class Animal { String say() { return "?"; } }
            class Cat extends Animal { String say() { return "m"; } }
            class Dog extends Animal { String say() { return "w"; } }
            String all = "";
            for (int i = 0; i < 4; i++) { var one = i % 2 == 0 ? new Cat() : new Dog(); all += one.say(); }
            all
            """
        )
        self.assertEqual(cell.text, '"mwmw"', cell.events)

    def test_value_too_long_for_a_line_is_told(self):
        cell = self.run_cell('"\\u00e9".repeat(8 << 20)')
        self.assertIn("too long", cell.err)
        self.assertEqual(self.value("1"), "1")


class Errors(Case):
    def test_exception_has_class_message_and_the_lines_of_the_cell(self):
        cell = self.run_cell('System.out.print("before");\nint divide(int a, int b) {\n    return a / b;\n}\n\ndivide(1, 0)')
        self.assertEqual(cell.out, "before")
        self.assertEqual((cell.error["name"], cell.error["value"]), ("ArithmeticException", "/ by zero"))
        trace = cell.error["traceback"]
        self.assertIn("java.lang.ArithmeticException: / by zero", trace)
        self.assertRegex(trace, r"at divide \(cell \d+, line 3\)")
        self.assertRegex(trace, r"at cell \d+, line 6")
        for noise in ["REPL", "do_it", "dev.cay", "jdk.jshell", "reflect"]:
            self.assertNotIn(noise, trace)

    def test_lines_of_an_earlier_cell_are_named_with_it(self):
        first = self.run_cell("\n\nvoid breaks() {\n    throw new UnsupportedOperationException();\n}").count
        cell = self.run_cell("breaks()")
        self.assertIn("at breaks (cell %d, line 4)" % first, cell.error["traceback"])
        self.assertEqual(cell.error["value"], "")

    def test_causes_and_classes_of_cells(self):
        cell = self.run_cell('class Mine extends RuntimeException { Mine(Throwable t) { super("outer", t); } }\nthrow new Mine(new IOException("inner"));')
        self.assertEqual((cell.error["name"], cell.error["value"]), ("Mine", "outer"))
        self.assertIn("Caused by: java.io.IOException: inner", cell.error["traceback"])

    def test_compiler_errors_come_all_with_their_lines(self):
        cell = self.run_cell("int fine = 1;\n\nint wrong() {\n    int a = \"x\";\n    boolean b = 3;\n    return a;\n}")
        self.assertEqual(cell.error["name"], "CompilationError")
        self.assertIn("String cannot be converted to int", cell.error["value"])
        self.assertRegex(cell.error["traceback"], r'cell \d+, line 4: error: .*\n        int a = "x";\n +\^')
        self.assertRegex(cell.error["traceback"], r"cell \d+, line 5: error: ")
        self.assertEqual(self.value("fine"), "1")

    def test_unknown_names_are_named(self):
        self.assertEqual(self.run_cell("nowhere + 1").error["value"], "cannot find symbol: variable nowhere")

    def test_incomplete_cells(self):
        for code in ["int f() {", 'String s = "abc', "/* open", "foo(", "}"]:
            with self.subTest(code):
                self.assertEqual(self.run_cell(code).error["name"], "CompilationError")
        self.assertEqual(self.value("2"), "2")

    def test_method_that_needs_what_is_not_declared_is_explained(self):
        cell = self.run_cell("int later() { return missing + 1; }")
        self.assertIsNone(cell.error)
        self.assertIn("later() cannot be called until variable missing is declared", cell.err)
        cell = self.run_cell("later()")
        self.assertEqual(cell.error["name"], "UnresolvedReference")
        self.assertIn("missing", cell.error["value"])
        self.assertEqual(self.value("int missing = 1; later()"), "2")

    def test_class_that_needs_what_is_not_declared_is_explained(self):
        self.assertIn("Child cannot be used until class Parent is declared", self.run_cell("class Child extends Parent {}").err)

    def test_deep_recursion_and_full_memory_are_errors(self):
        self.assertEqual(self.run_cell("int deep(int n) { return 1 + deep(n + 1); }\ndeep(0)").error["name"], "StackOverflowError")
        cell = self.run_cell('void noisy(int n) { System.out.println("x".repeat(100)); noisy(n + 1); }\nnoisy(0)')
        self.assertEqual(cell.error["name"], "StackOverflowError")
        cell = self.run_cell("var hoard = new byte[Integer.MAX_VALUE];")
        self.assertEqual(cell.error["name"], "OutOfMemoryError")
        self.assertEqual(self.value("3"), "3")

    def test_thrown_errors_of_any_kind(self):
        for code, name in [("throw new Error()", "Error"), ("throw new ThreadDeath()", "ThreadDeath"), ("Object o = null; o.hashCode()", "NullPointerException")]:
            with self.subTest(code):
                self.assertEqual(self.run_cell(code).error["name"], name)


class Output(Case):
    def test_err_is_apart_and_order_is_kept(self):
        cell = self.run_cell('System.out.print("1"); System.err.print("2"); System.out.print("3"); System.err.println("4");')
        self.assertEqual([(e["event"], e["text"]) for e in cell.events[:-1]], [("out", "1"), ("err", "2"), ("out", "3"), ("err", "4\n")])

    def test_output_comes_while_the_cell_runs(self):
        self.runner.begin('System.out.println("now"); Thread.sleep(300_000);')
        self.assertEqual(self.runner.until("out")["text"], "now")
        self.runner.interrupt()
        self.runner.finish()

    def test_children_print_into_the_cell(self):
        cell = self.run_cell('new ProcessBuilder("sh", "-c", "echo child; echo bad >&2").inheritIO().start().waitFor()')
        self.assertEqual((cell.out, cell.err, cell.text), ("child\n", "bad\n", "0"))

    def test_children_do_not_hold_the_pipes_of_the_node(self):
        cell = self.run_cell('new String(new ProcessBuilder("sh", "-c", "ls /proc/self/fd").start().getInputStream().readAllBytes())')
        self.assertEqual([n for n in cell.text.strip('"').split() if int(n) >= 240], [])

    def test_standard_input_is_at_its_end(self):
        self.assertEqual(self.value("System.in.read()"), "-1")
        self.assertEqual(self.value("new Scanner(System.in).hasNext()"), "false")

    def test_closing_the_streams_harms_nothing(self):
        self.run_cell("System.out.close(); System.err.close(); System.in.close();")
        self.run_cell("new FileOutputStream(FileDescriptor.out).close(); new FileOutputStream(FileDescriptor.err).close();")
        cell = self.run_cell('System.out.print("o"); System.err.print("e"); new ProcessBuilder("echo", "c").inheritIO().start().waitFor();')
        self.assertEqual((cell.out.replace("\n", ""), cell.err), ("oc", "e"))

    def test_threads_print_after_their_cell(self):
        self.run_cell('var gate = new CountDownLatch(1); var t = new Thread(() -> { try { gate.await(); } catch (InterruptedException e) {} System.out.println("late"); }); t.start();')
        cell = self.run_cell("gate.countDown(); t.join();")
        self.assertEqual(cell.out, "late\n")

    def test_bytes_that_are_no_text_and_characters_cut_by_writes(self):
        cell = self.run_cell('System.out.write(0xff); System.out.flush(); var e = "\\u00e9".getBytes("UTF-8"); System.out.write(e, 0, 1); System.out.flush(); Thread.sleep(100); System.out.write(e, 1, 1); System.out.flush();')
        self.assertEqual(cell.out, "\ufffd\u00e9")
        cell = self.run_cell("System.out.write(0xc3); System.out.flush();")
        self.assertEqual(cell.out, "\ufffd")

    def test_a_hundred_megabytes(self):
        cell = self.run_cell('var line = "x".repeat(99); for (int i = 0; i < 1 << 20; i++) System.out.println(line);')
        self.assertEqual(len(cell.out), 100 << 20)
        self.assertLess(len(cell.chunks), 20000)

    def test_ten_megabytes_of_cell(self):
        self.assertEqual(self.value("/* " + "x" * (10 << 20) + " */ 5"), "5")

    def test_child_that_prints_for_ever_does_not_hold_the_end(self):
        self.assertEqual(self.value('var yes = new ProcessBuilder("yes").inheritIO().start(); 1'), "1")
        self.run_cell("yes.destroyForcibly().waitFor();")


class Interrupts(Case):
    def stops(self, code):
        self.runner.begin('System.out.println("in");\n' + code)
        self.runner.until("out")
        self.runner.interrupt()
        cell = self.runner.finish()
        self.assertIsNotNone(cell.error, cell.events)
        self.assertEqual(cell.error["name"], "InterruptedException")
        self.assertEqual(self.value("1 + 1"), "2")

    def test_busy_loops(self):
        self.stops("while (true) {}")
        self.stops("for (long i = 0; ; i++) { try { i += 2; } catch (Throwable t) { } }")
        self.stops("void spin() { do { } while (System.nanoTime() != 0); }\nspin();")

    def test_loop_that_eats_exceptions_and_interrupts(self):
        self.stops("while (true) { try { Thread.sleep(10); } catch (Exception e) { } }")

    def test_waiting(self):
        self.stops("new CompletableFuture<String>().get();")
        self.stops("new ProcessBuilder(\"sleep\", \"300\").start().waitFor();")

    def test_waiting_that_does_not_answer_interrupts_is_left_behind(self):
        self.stops("new CompletableFuture<String>().join();")
        self.stops("Stream.iterate(1, i -> i + 1).anyMatch(i -> false);")

    def test_virtual_and_pool_threads(self):
        self.stops("try (var all = Executors.newVirtualThreadPerTaskExecutor()) { all.submit(() -> { while (true) {} }).get(); }")
        self.stops("IntStream.range(0, 100).parallel().forEach(i -> { while (true) {} });")

    def test_several_interrupts_and_one_between_cells(self):
        for _ in range(3):
            self.runner.interrupt()
        # The JVM hears of signals on a thread of its own, maybe only when a cell has begun that follows at once.
        self.run_cell("4")
        self.assertEqual(self.value("5"), "5")
        self.runner.begin('System.out.println("in"); while (true) {}')
        self.runner.until("out")
        for _ in range(5):
            self.runner.interrupt()
        self.assertEqual(self.runner.finish().error["name"], "InterruptedException")
        self.assertEqual(self.value("6"), "6")

    def test_threads_of_earlier_cells_live_on(self):
        self.run_cell("var ticks = new java.util.concurrent.atomic.AtomicLong(); Thread.ofPlatform().daemon().start(() -> { while (true) { ticks.incrementAndGet(); Thread.yield(); } });")
        self.stops("while (true) {}")
        self.assertEqual(self.value("long was = ticks.get(); while (ticks.get() == was) Thread.sleep(1); true"), "true")


class Ends(Case):
    def test_exit_ends_the_runner_after_what_was_printed(self):
        runner = self.own()
        runner.begin('System.out.println("last"); System.exit(3);')
        cell = runner.finish()
        self.assertTrue(cell.died)
        self.assertEqual(cell.out, "last\n")
        self.assertEqual(runner.process.wait(LIMIT), 3)


if __name__ == "__main__":
    main(["/opt/java/bin/java", "@/opt/cay/runners/java/options", "dev.cay.runner.JavaRunner"])
