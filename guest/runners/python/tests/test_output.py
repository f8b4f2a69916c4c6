"""What is printed: chunks, order, bytes, amounts, descriptors, threads, children."""

import time

from tests.driver import RunnerCase


class Chunks(RunnerCase):
    def test_one_print_is_one_event(self):
        for kind, stream in (("out", "stdout"), ("err", "stderr")):
            cell = self.good(f"import sys; print('hello', file=sys.{stream})")
            self.assertEqual([event["text"] for event in cell.all(kind)], ["hello\n"])
            self.assertEqual(len(cell.events), 3)

    def test_printed_text_does_not_wait_for_the_end(self):
        self.runner.begin("import time; print('first'); time.sleep(600)")
        self.assertEqual(self.runner.next(), {"event": "out", "text": "first\n"})
        self.runner.interrupt()
        self.runner.finish()

    def test_order_of_everything(self):
        cell = self.run_cell("""
            import sys, os, subprocess
            print('1')
            print('2', file=sys.stderr)
            os.write(1, b'3\\n')
            print('4')
            os.system('echo 5; sleep 0.05; echo 6')
            display('seven')
            subprocess.run(['sh', '-c', 'echo 8 >&2'])
            print('9', file=sys.stderr)
            sys.stdout.buffer.write(b'10\\n')
            subprocess.run(['echo', '11'], stdout=sys.stdout)
            1/0
        """)
        seen = [event.get("text") or event.get("name") or event["data"]["text/plain"] for event in cell.events[1:-1]]
        self.assertEqual("".join(text if text.endswith("\n") else f"<{text}>" for text in seen),
                         "1\n2\n3\n4\n5\n6\n<'seven'>8\n9\n10\n11\n<ZeroDivisionError>")

    def test_text_that_is_not_ascii(self):
        text = "\u00e4 \u20ac \U0001f600 \u2028 \u2029 \x85 \x7f \x00 \x1b[31m \r\n"
        self.assertEqual(self.good(f"print({text!r}, end='')").text(), text)
        self.assertEqual(self.good("print('a\\ud800b\\udc00\\ud83d\\ude00')").text(), "a\ufffdb\ufffd\U0001f600\n")
        self.assertEqual(self.good(r"print('\\ud800')").text(), "\\ud800\n")

    def test_bytes_that_are_no_text(self):
        self.assertEqual(self.good("import os; os.write(1, b'a\\xff\\xfeb')").text(), "a\ufffd\ufffdb")
        self.assertEqual(self.good("import sys; sys.stdout.buffer.write(b'\\xc3'); sys.stdout.buffer.write(b'\\xa4');").text(), "\u00e4")
        split = "import os, time\nos.write(1, b'\\xe2\\x82')\ntime.sleep(0.2)\nos.write(1, b'\\xac');"
        self.assertEqual(self.good(split).text(), "\u20ac")
        self.assertEqual(self.good("os.write(1, b'\\xe2\\x82');").text(), "\ufffd")
        self.good("os.system('head -c 3000000 /dev/urandom')")
        self.assertEqual(self.good("os.write(2, b'after');").text("err"), "after")

    def test_native_buffers(self):
        self.assertEqual(self.good("import ctypes; ctypes.CDLL(None).printf(b'from C\\n');").text(), "from C\n")

    def test_streams_look_like_streams(self):
        self.assertEqual(self.good("""
            import sys, io
            s = sys.stdout
            (s.encoding, s.isatty(), s.fileno(), s.writable(), s.readable(), s.closed, s.name, sys.stderr.name,
             isinstance(s, io.TextIOBase), s.buffer.fileno(), sys.__stdout__ is s)
        """).main.replace("\n", ""), "('utf-8', False, 1, True, False, False, '<stdout>', '<stderr>', True, 1, True)")
        self.assertEqual(self.run_cell("sys.stdout.write(b'x')").error_name, "TypeError")
        self.assertEqual(self.good("s.reconfigure(encoding='latin-1'); s.close(); s.buffer.close(); print('open')").text(), "open\n")
        self.assertEqual(self.good("s.writelines(['a', 'b'])").text(), "ab")
        self.assertEqual(self.good("import logging; logging.warning('logged')").text("err"), "WARNING:root:logged\n")


class Amounts(RunnerCase):
    def test_gathered_in_pieces(self):
        cell = self.good("for i in range(100000): print('x' * 99)")
        self.assertEqual(cell.text(), ("x" * 99 + "\n") * 100000)
        self.assertLess(max(len(event["text"]) for event in cell.all("out")), 2 * (64 << 10))
        self.assertLess(len(cell.events), 1000)

    def test_slow_reader_makes_printing_wait(self):
        """100 MB while nobody reads: the runner must wait, not remember."""
        runner = self.own()
        before = self._memory(runner)
        runner.begin("for i in range(1000): print('y' * 99_999)")
        runner.pause_reading()
        limit = time.monotonic() + 5
        while time.monotonic() < limit:
            self.assertLess(self._memory(runner), before + (40 << 10))
            time.sleep(0.2)
        runner.resume_reading()
        self.assertEqual(len(runner.finish().text()), 100_000_000)
        self.assertLess(self._memory(runner), before + (40 << 10))

    def test_slow_reader_of_a_child(self):
        runner = self.own()
        before = self._memory(runner)
        runner.begin("import os; os.system('head -c 50000000 /dev/zero | tr \"\\\\0\" z');")
        runner.pause_reading()
        time.sleep(2)
        self.assertLess(self._memory(runner), before + (40 << 10))
        runner.resume_reading()
        self.assertEqual(len(runner.finish().text()), 50_000_000)

    def test_interrupt_while_printing_waits(self):
        runner = self.own()
        runner.begin("while True: print('y' * 99_999)")
        runner.pause_reading()
        time.sleep(0.5)
        for _ in range(20):
            runner.interrupt()
            time.sleep(0.01)
        runner.resume_reading()
        self.assertEqual(runner.finish().error_name, "KeyboardInterrupt")
        self.assertEqual(runner.run("7").main, "7")

    def test_child_that_never_stops_printing(self):
        runner = self.own()
        self.assertIsNone(runner.run("import subprocess; child = subprocess.Popen(['yes'])").error)
        for number in range(5):
            self.assertEqual(runner.run(f"print('here'); {number}").main, str(number))
        self.assertIsNone(runner.run("child.kill(); child.wait();").error)

    def test_thousand_displays(self):
        cell = self.good("for i in range(1000): display(i)")
        self.assertEqual([data["text/plain"] for data in cell.results], [str(i) for i in range(1000)])

    @staticmethod
    def _memory(runner):
        """Resident KiB."""
        with open(f"/proc/{runner.process.pid}/status") as status:
            return int(next(line for line in status if line.startswith("VmRSS")).split()[1])


class Processes(RunnerCase):
    def test_threads_print(self):
        cell = self.good("""
            import threading
            def speak(n):
                for _ in range(200): print(f'<{n}>' * 20)
            threads = [threading.Thread(target=speak, args=(n,)) for n in range(8)]
            for t in threads: t.start()
            for t in threads: t.join()
        """)
        self.assertEqual(cell.text().count("\n"), 1600)
        self.assertEqual(cell.text().count("<3>"), 4000)

    def test_thread_outlives_its_cell(self):
        self.good("""
            import threading, time
            go = threading.Event()
            def late():
                go.wait(30); print('late')
            thread = threading.Thread(target=late); thread.start()
        """)
        cell = self.good("go.set(); thread.join(); print('joined')")
        self.assertEqual(cell.text(), "late\njoined\n")
        cell = self.good("t = threading.Thread(target=lambda: 1/0); t.start(); t.join()")
        self.assertIn("ZeroDivisionError", cell.text("err"))

    def test_fork(self):
        """A child runs to the end of the cell and leaves; its text arrives, its results do not."""
        cell = self.good("""
            import os, sys
            print('before')
            pid = os.fork()
            if pid == 0:
                print('child')
                display('of the child')
            else:
                status = os.waitpid(pid, 0)[1]
                print('parent', status)
            'value' if pid else 'child value'
        """)
        self.assertEqual(cell.text(), "before\nchild\nparent 0\n")
        self.assertEqual(cell.results, [{"text/plain": "'value'"}])
        self.assertEqual(len(cell.all("begin") + cell.all("end")), 2)
        self.assertEqual(self.good("'next'").main, "'next'")

    def test_fork_that_fails(self):
        cell = self.good("""
            import os, sys
            pid = os.fork()
            if pid == 0: raise ValueError('in the child')
            os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        """)
        self.assertEqual(cell.main, "1")
        self.assertIn("ValueError: in the child", cell.text("err"))
        cell = self.good("pid = os.fork()\nif pid == 0: sys.exit(5)\nos.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])")
        self.assertEqual(cell.main, "5")

    def test_forked_child_that_stays(self):
        """The child holds none of our pipes: the runner's end is seen at once."""
        runner = self.own()
        cell = runner.run("import os, time\npid = os.fork()\nif pid == 0:\n    time.sleep(600); os._exit(0)\npid")
        runner.process.stdin.close()
        self.assertEqual(runner.process.wait(30), 0)
        self.assertIsNone(runner.next(limit=10))
        self.assertTrue(cell.main.isdigit())

    def test_pool_of_processes(self):
        cell = self.good("""
            import multiprocessing
            def square(n):
                print('worker', n)
                return n * n
            with multiprocessing.get_context('fork').Pool(2) as pool:
                got = pool.map(square, range(4))
            got
        """)
        self.assertEqual(cell.main, "[0, 1, 4, 9]")
        self.assertEqual(sorted(cell.text().split("\n")), ["", "worker 0", "worker 1", "worker 2", "worker 3"])

    def test_closed_descriptors(self):
        runner = self.own()
        cell = runner.run("import os; os.close(1); os.close(2); os.close(0); print('still')")
        self.assertEqual((cell.text(), cell.error), ("still\n", None))
        self.assertEqual(runner.run("os.system('echo again; echo bad >&2; cat');").text(), "again\n")
        runner.run("import sys; os.closerange(0, 500); del sys.stdout; print('gone')")
        cell = runner.run("sys.stdout = sys.__stdout__\n!echo back")
        self.assertEqual((cell.text(), cell.error), ("back\n", None))

    def test_redirected_descriptor_stays(self):
        runner = self.own()
        runner.run("import os, tempfile; f = tempfile.TemporaryFile(); keep = os.dup(1); os.dup2(f.fileno(), 1)")
        runner.run("os.system('echo hidden'); os.dup2(keep, 1)")
        self.assertEqual(runner.run("f.seek(0); f.read()").main, "b'hidden\\n'")
        self.assertEqual(runner.run("os.system('echo seen');").text(), "seen\n")

    def test_finalizers_and_signal_handlers_that_print(self):
        cell = self.good("""
            import gc, signal
            class Loud:
                def __init__(self): self.me = self
                def __del__(self): print('d', end='')
            for _ in range(3000):
                Loud(); print('p', end='')
            gc.collect()
        """)
        self.assertEqual((cell.text().count("d"), cell.text().count("p")), (3000, 3000))

    def test_signal_handlers_that_raise(self):
        """A timer of the user strikes in the midst of printing: no line may be cut."""
        cell = self.good("""
            import signal, time
            class Late(Exception): pass
            def strike(*_): raise Late
            signal.signal(signal.SIGALRM, strike)
            struck = 0
            for _ in range(300):
                signal.setitimer(signal.ITIMER_REAL, 0.002)
                try:
                    while True: print('z' * 5000)
                except Late:
                    struck += 1
            signal.setitimer(signal.ITIMER_REAL, 0)
            struck
        """)
        self.assertEqual(cell.main, "300")
        self.assertEqual(cell.all("broken"), [])
