"""SIGINT: ends the cell that runs, whatever it does, and nothing else ever."""

import time

from tests.driver import RunnerCase


class Interrupt(RunnerCase):
    def interrupted(self, code, times=1):
        self.runner.begin(f"print('up')\n{code}")
        self.runner.wait_for_text("up")
        for _ in range(times):
            self.runner.interrupt()
        cell = self.runner.finish(limit=30)
        self.assertEqual(self.good("'alive'").main, "'alive'")
        return cell

    def test_whatever_it_does(self):
        self.good("import time, asyncio, subprocess, os, threading, queue\nkept = 5")
        for code in (
            "while True: pass",
            "time.sleep(300)",
            "await asyncio.sleep(300)",
            "await asyncio.gather(asyncio.sleep(300), asyncio.sleep(200))",
            "asyncio.run(asyncio.sleep(300))",
            "subprocess.run(['sleep', '300'])",
            "os.system('sleep 300'); time.sleep(300)",
            "threading.Event().wait()",
            "queue.Queue().get()",
            "!sleep 300",
            "for i in range(3):\n  !sleep 300",
            "lines = !sleep 300",
            "while True: print('x')",
            "while True: display(1)",
            "exec('while True: pass')",
            "sum(x for x in iter(int, 1))",
        ):
            with self.subTest(code):
                cell = self.interrupted(code)
                self.assertEqual((cell.error_name, len(cell.all("error"))), ("KeyboardInterrupt", 1))
                self.assertNotIn("\x1b", cell.error["traceback"])
                self.assertEqual(cell.all("broken"), [])
        self.assertEqual(self.good("kept").main, "5")

    def test_commands_are_gone(self):
        self.interrupted("!sh -c 'trap \"\" INT; exec sleep 287'")
        self.assertEqual(self.good("!pgrep -fc 'sleep 28[7]'").text().strip(), "0")

    def test_bell_that_still_rings_when_the_next_cell_begins(self):
        ring = "import os, signal, time\nbell = signal.set_wakeup_fd(-1)\nsignal.set_wakeup_fd(bell)\nos.write(bell, b'\\2')"
        for _ in range(20):
            self.good(ring)
            self.good("time.sleep(0.05)")

    def test_awaiting_cell_shows_where(self):
        cell = self.interrupted("import asyncio\nasync def stay():\n    await asyncio.sleep(300)\nawait stay()")
        self.assertIn("await stay()", cell.error["traceback"])

    def test_clean_up_behind_an_await(self):
        cell = self.interrupted("""
import asyncio
try:
    await asyncio.sleep(300)
finally:
    await asyncio.sleep(0.01)
    print('cleaned')
""")
        self.assertEqual(cell.error_name, "KeyboardInterrupt")
        self.assertTrue(cell.text().endswith("cleaned\n"))

    def test_await_that_will_not_end(self):
        code = "import asyncio\nwhile True:\n    try: await asyncio.sleep(300)\n    except asyncio.CancelledError: pass"
        self.assertEqual(self.interrupted(code).error_name, "KeyboardInterrupt")

    def test_many_at_once(self):
        for _ in range(20):
            cell = self.interrupted("import time\ntime.sleep(300)", times=10)
            self.assertEqual(cell.error_name, "KeyboardInterrupt")

    def test_between_cells(self):
        for _ in range(50):
            self.runner.interrupt()
        time.sleep(0.1)
        self.assertEqual(self.good("6 * 7").main, "42")
        self.good("import asyncio; await asyncio.sleep(0)")
        for _ in range(50):
            self.runner.interrupt()
        time.sleep(0.1)
        self.assertEqual(self.good("6 * 7").main, "42")

    def test_at_any_moment(self):
        """Interrupts rain while short cells run: each has its begin and end, and no line is broken."""
        for number in range(300):
            self.runner.begin(f"print('a' * 1000); display({number}); {number}")
            for _ in range(number % 7):
                self.runner.interrupt()
            cell = self.runner.finish()
            self.assertEqual(cell.all("broken"), [])
            self.assertLessEqual(len(cell.all("error")), 1)
            if cell.error:
                self.assertEqual(cell.error_name, "KeyboardInterrupt")
        self.assertEqual(self.good("'end'").main, "'end'")

    def test_right_after_begin(self):
        for _ in range(30):
            self.runner.begin("import time; time.sleep(300)")
            self.runner.interrupt()
            self.assertEqual(self.runner.finish(limit=30).error_name, "KeyboardInterrupt")

    def test_caught_by_the_cell(self):
        cell = self.interrupted("import time\ntry: time.sleep(300)\nexcept KeyboardInterrupt: print('caught')")
        self.assertIsNone(cell.error)
        self.assertTrue(cell.text().endswith("caught\n"))

    def test_handler_taken_by_a_cell(self):
        self.good("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN);")
        self.assertEqual(self.interrupted("import time\ntime.sleep(300)").error_name, "KeyboardInterrupt")
        self.good("signal.signal(signal.SIGINT, signal.SIG_DFL);")
        self.assertEqual(self.good("1").main, "1")

    def test_task_that_blocks_between_cells(self):
        """A task left behind keeps the loop busy: a cell that waits behind it can be freed."""
        self.good("import asyncio, time\nasync def block():\n    await asyncio.sleep(0)\n    time.sleep(300)\nt = asyncio.create_task(block());")
        self.runner.send(op="run", id=77, code="'free'", env={})
        limit = time.monotonic() + 30
        event = None
        while event is None and time.monotonic() < limit:
            self.runner.interrupt()
            try:
                event = self.runner.next("begin", limit=0.2)
            except Exception:
                continue
        self.assertEqual(event["id"], 77)
        self.runner.next("end")
