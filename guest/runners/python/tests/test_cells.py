"""Running cells: state, errors, counts, environment, requests."""

import os
import tempfile

from tests.driver import Runner, RunnerCase


class Cells(RunnerCase):
    def test_last_expression(self):
        self.assertEqual(self.good("x =1; x").main, "1")

    def test_state_is_kept(self):
        self.good("kept = 1")
        self.assertEqual(self.good("kept += 1; kept").main, "2")

    def test_semicolon_hides_the_value(self):
        self.assertEqual(self.good("5;").results, [])
        self.assertEqual(self.good("5; # said").results, [])
        self.assertEqual(self.good("'a;b'").main, "'a;b'")

    def test_none_is_no_result(self):
        self.assertEqual(self.good("None").results, [])

    def test_indented_cell(self):
        self.assertEqual(self.good("\n        y = 4\n        y + 1\n    ").main, "5")

    def test_name_error(self):
        cell = self.run_cell("print('before')\nnot_there")
        self.assertEqual(cell.text(), "before\n")
        self.assertEqual(cell.error_name, "NameError")
        self.assertEqual(cell.error["value"], "name 'not_there' is not defined")
        self.assertIn("----> 2 not_there", cell.error["traceback"])
        self.assertNotIn("\x1b", cell.error["traceback"])
        self.assertEqual([event["event"] for event in cell.events], ["begin", "out", "error", "end"])

    def test_errors_of_every_kind(self):
        for code, name, value in (
            ("raise SystemExit", "SystemExit", ""),
            ("import sys; sys.exit('done')", "SystemExit", "done"),
            ("exit()", "SystemExit", ""),
            ("quit", "SystemExit", ""),
            ("raise KeyboardInterrupt('mine')", "KeyboardInterrupt", "mine"),
            ("raise GeneratorExit", "GeneratorExit", ""),
            ("class Odd(BaseException): pass\nraise Odd(3)", "Odd", "3"),
            ("'a' * 10**17", "MemoryError", ""),
            ("def f(): f()\nf()", "RecursionError", "maximum recursion depth exceeded"),
            ("1/0", "ZeroDivisionError", "division by zero"),
            ("raise ExceptionGroup('two', [ValueError(1), TypeError(2)])", "ExceptionGroup", "two (2 sub-exceptions)"),
            ("import asyncio\nraise asyncio.CancelledError", "CancelledError", ""),
        ):
            with self.subTest(code):
                cell = self.run_cell(code)
                self.assertEqual((cell.error_name, cell.error["value"]), (name, value))
                self.assertEqual(len(cell.all("error")), 1)
                self.assertEqual(cell.text("err"), "")
                self.assertNotIn("\x1b", cell.error["traceback"])

    def test_exceptions_that_cannot_be_told(self):
        cell = self.run_cell("class Mute(Exception):\n    def __str__(self): raise ValueError\nraise Mute")
        self.assertEqual(cell.error_name, "Mute")
        cell = self.run_cell("raise ValueError('x' * 50_000_000)")
        self.assertEqual(cell.error_name, "ValueError")
        self.assertLess(len(cell.error["value"]), 2 << 20)
        self.assertIn("characters left out", cell.error["value"])

    def test_repr_that_raises(self):
        cell = self.run_cell("class Bad:\n    def __repr__(self): raise ValueError('no repr')\nBad()")
        self.assertEqual((cell.error_name, cell.error["value"]), ("ValueError", "no repr"))
        self.assertEqual(cell.results, [])
        cell = self.run_cell("class Worse:\n    def __repr__(self): raise SystemExit\nWorse()")
        self.assertEqual(cell.error_name, "SystemExit")

    def test_syntax_errors_count(self):
        before = self.good("1").count
        cell = self.run_cell("def (")
        self.assertEqual((cell.count, cell.error_name), (before + 1, "SyntaxError"))
        self.assertEqual(self.run_cell("if True:\nx").error_name, "IndentationError")
        self.assertEqual(self.run_cell("x = '\\0").error_name, "SyntaxError")
        self.assertEqual(self.run_cell("a\0b").error_name, "ValueError")
        self.assertEqual(self.good("").count, before + 5)
        self.assertEqual(self.good("  \n ").count, before + 6)
        self.assertEqual(self.good("_ih and 7").count, before + 7)

    def test_input_has_no_answer(self):
        self.assertEqual(self.run_cell("input('name? ')").error_name, "EOFError")

    def test_magics(self):
        self.assertEqual(self.good("!pwd").text().strip(), "/tmp")
        self.assertEqual(self.good("!echo a; echo b >&2").text(), "a\nb\n")
        self.assertEqual(self.good("!tty >/dev/null; test -t 1 && echo terminal").text(), "terminal\n")
        self.assertEqual(self.good("!exit 3").results, [])
        self.assertEqual(self.good("_exit_code").main, "3")
        self.assertEqual(self.good("import os; os.system('exit 3'), os.system('kill -9 $$')").main, "(768, 9)")
        self.assertEqual(self.good("lines = !printf 'a\\nb'\nlines").main, "['a', 'b']")
        self.assertEqual(self.good("word = 'w'\n!echo {word} $word").text(), "w w\n")
        self.assertIn("Wall time", self.good("%time pass").text())
        self.assertEqual(self.good("%%bash\necho from bash").text(), "from bash\n")
        self.assertIn("len(obj, /)", self.good("len?").text())
        self.assertEqual(self.good("%%capture got\nprint('kept')").text(), "")
        self.assertEqual(self.good("got.stdout").main, "'kept\\n'")
        self.assertIn("UsageError", self.run_cell("%nothing_like_it").text("err"))

    def test_background_command(self):
        self.good("!(sleep 0.2; echo late) &")
        self.assertEqual(self.good("import time; time.sleep(1)").text(), "late\n")

    def test_top_level_await(self):
        self.assertEqual(self.good("import asyncio\nawait asyncio.sleep(0.01, 'slept')").main, "'slept'")
        self.assertEqual(self.good("async def three(): return 3\nasyncio.run(three())").main, "3")
        self.assertEqual(self.good("await three()").main, "3")
        self.assertEqual(self.good("asyncio.get_event_loop().run_until_complete(three())").main, "3")
        self.assertEqual(self.run_cell("await asyncio.sleep(0)\nraise KeyError('k')").error_name, "KeyError")

    def test_tasks_go_on_between_cells(self):
        self.good("""
            import asyncio, threading
            finished = threading.Event()
            async def later():
                for _ in range(5): await asyncio.sleep(0.01)
                finished.set()
            task = asyncio.create_task(later())
        """)
        self.assertEqual(self.good("finished.wait(0)").main, "False")
        for _ in range(100):
            if self.good("finished.wait(0)").main == "True":
                return
            self.good("import time; time.sleep(0.02)")
        self.fail("the task was not run between cells")

    def test_main_module_is_the_users(self):
        self.good("class Thing: pass\nimport pickle, __main__")
        self.assertEqual(self.good("pickle.loads(pickle.dumps(Thing())).__class__ is Thing").main, "True")
        self.assertEqual(self.good("__name__, hasattr(__main__, '__file__'), __main__.Thing is Thing").main, "('__main__', False, True)")

    def test_users_modules_are_found_first(self):
        with tempfile.TemporaryDirectory() as home:
            for name in ("shell", "data", "loop", "runner", "output", "frames", "charts"):
                with open(os.path.join(home, name + ".py"), "w") as file:
                    file.write(f"who = 'mine {name}'")
            runner = Runner(cwd=home)
            self.addCleanup(runner.close)
            runner.set_up(cwd=home)
            cell = runner.run("import shell, data, loop, runner, output, frames, charts, sys\n"
                              "[m.who for m in (shell, data, loop, runner, output, frames, charts)], sys.path[0], sys.argv")
            self.assertIsNone(cell.error, cell.error)
            names = [f"mine {name}" for name in ("shell", "data", "loop", "runner", "output", "frames", "charts")]
            self.assertEqual(eval(cell.main), (names, "", [""]))
            self.assertEqual(runner.run("[p for p in sys.path if 'runner' in p]").main, "[]")

    def test_huge_cell(self):
        code = "big = '" + "x" * 10_000_000 + "'\nlen(big)"
        self.assertEqual(self.good(code).main, "10000000")
        code = "total = 0\n" + "total += 1 # counted again and again\n" * 260_000 + "total"
        self.assertGreater(len(code), 9_000_000)
        self.assertEqual(self.good(code).main, "260000")
        cell = self.run_cell("a = [\n" + "1,\n" * 200_000 + "]\nnot_there")
        self.assertEqual(cell.error_name, "NameError")
        self.assertEqual(self.good("1;").main, None)

    def test_nothing_of_ours_in_the_way(self):
        self.assertEqual(self.good("%who_ls").count > 0, True)
        self.assertEqual(self.run_cell("display_me_not").error_name, "NameError")
        self.assertEqual(self.good("import sys; 'pandas' in sys.modules or 'matplotlib' in sys.modules").main, "False")


class Environment(RunnerCase):
    def test_set_up(self):
        runner = self.own()
        self.assertEqual(runner.set_up(cwd="/", env={"FOO": "sandbox", "GONE": "x"}), {"event": "ready", "n": 1})
        self.assertEqual(runner.run("import os; os.getcwd(), os.environ['FOO']").main, "('/', 'sandbox')")
        self.assertEqual(runner.set_up(cwd="/tmp", env={}, unset=["GONE", "NEVER"]), {"event": "ready", "n": 1})
        self.assertEqual(runner.run("os.getcwd(), os.environ['FOO'], os.environ.get('GONE')").main, "('/tmp', 'sandbox', None)")
        refused = runner.set_up(cwd="/not/there")
        self.assertEqual(refused["event"], "refused")
        self.assertIn("/not/there", refused["reason"])
        for wrong in ({"cwd": "\0"}, {"env": {"A=B": "c"}}, {"env": {"A": "\0"}}, {"seed": "no hex"}, {"unset": [1]}):
            self.assertEqual(runner.set_up(**wrong)["event"], "refused", wrong)
        self.assertEqual(runner.run("2").main, "2")

    def test_of_one_cell(self):
        runner = self.own()
        runner.set_up(env={"FOO": "sandbox"})
        ask = "import os; os.environ.get('FOO'), os.environ.get('BAR'), os.popen('echo $BAR').read()"
        self.assertEqual(runner.run(ask, {"FOO": "cell", "BAR": "quote\" ' \\ \n\u20ac"}).main,
                         repr(("cell", "quote\" ' \\ \n\u20ac", "quote\" ' \\ \u20ac\n".replace("\\ ", "\\ "))))
        self.assertEqual(runner.run(ask).main, "('sandbox', None, '\\n')")

    def test_put_back_whatever_happens(self):
        runner = self.own()
        runner.set_up(env={"FOO": "sandbox"})
        ask = "import os; os.environ.get('FOO'), os.environ.get('BAR')"
        for code in ("1/0", "def (", "raise SystemExit", "import os; os.environ['BAR'] = 'mine'; del os.environ['FOO']", "os.environ = {}; 1",
                     "import importlib; importlib.reload(os); 1"):
            with self.subTest(code):
                runner.run(code, {"FOO": "cell", "BAR": "cell"})
                self.assertEqual(runner.run(ask).main, "('sandbox', None)")
        runner.begin("import time; print('up'); time.sleep(600)", {"FOO": "cell", "BAR": "cell"})
        runner.wait_for_text("up")
        runner.interrupt()
        self.assertEqual(runner.finish().error_name, "KeyboardInterrupt")
        self.assertEqual(runner.run(ask).main, "('sandbox', None)")

    def test_name_that_cannot_be_set(self):
        cell = self.run_cell("1", {"A=B": "c"})
        self.assertEqual(cell.error_name, "ValueError")
        self.assertEqual(self.good("1").main, "1")

    def test_seed(self):
        draw = "import random; random.random()"
        draw_numpy = "import numpy; (numpy.random.rand(), numpy.random.randint(10**9))"
        first, second, third = self.own(), self.own(), self.own()
        third.set_up(seed="f" * 32)
        drawn = [[runner.run(draw).main, runner.run(draw_numpy).main] for runner in (first, second, third)]
        self.assertEqual(drawn[0], drawn[1])
        self.assertNotEqual(drawn[0][0], drawn[2][0])
        self.assertNotEqual(drawn[0][1], drawn[2][1])
        first.set_up()
        self.assertEqual([first.run(draw).main, first.run(draw_numpy).main], drawn[0])


class Requests(RunnerCase):
    def test_lines_that_are_not_understood(self):
        for line in (b"", b"{", b'{"op":"ru', b"[]", b"7", b'{"op":"fly"}', b'{"op":"run","id":3}', b"\xff\xfe", b"[" * 100_000,
                     b'{"op":"run","id":1,"code":7,"env":{}}', b'{"op":"setup","env":{},"unset":[]}'):
            self.runner.send_line(line)
        self.assertEqual(self.good("'still here'").main, "'still here'")

    def test_setup_is_answered_after_the_cell_that_runs(self):
        self.runner.begin("import time; time.sleep(1)")
        self.runner.send(op="setup", n=42, env={}, unset=[])
        self.runner.finish()
        self.assertEqual(self.runner.next(), {"event": "ready", "n": 42})

    def test_end_of_file(self):
        for code in (None, "import time; time.sleep(600)"):
            runner = self.own()
            if code:
                runner.begin(code)
            runner.process.stdin.close()
            self.assertEqual(runner.process.wait(30), 0)

    def test_many_requests_at_once(self):
        for number in range(200):
            self.runner.send(op="run", id=1000 + number, code=f"{number}", env={})
        for number in range(200):
            self.assertEqual(self.runner.next("result")["data"]["text/plain"], str(number))
            self.assertEqual(self.runner.next()["id"], 1000 + number)

    def test_os_exit_ends_the_runner(self):
        runner = self.own()
        runner.begin("import os; print('last words'); os._exit(7)")
        self.assertEqual(runner.next(), {"event": "out", "text": "last words\n"})
        self.assertIsNone(runner.next())
        self.assertEqual(runner.process.wait(30), 7)
