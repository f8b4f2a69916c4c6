"""Speaks to the runner as the node does. Needs nothing but Python and bash: python3 tests/test_runner.py"""

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

RUNNER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "runner.py")
LIMIT = 60


class Outcome:
    def __init__(self, events):
        self.events = events
        self.count = events[0]["count"]
        self.outs = [event["text"] for event in events if event["event"] == "out"]
        self.out = "".join(self.outs)
        self.err = "".join(event["text"] for event in events if event["event"] == "err")
        errors = [event for event in events if event["event"] == "error"]
        assert len(errors) <= 1, errors
        self.error = errors[0] if errors else None
        self.status = int(self.error["value"]) if self.error else 0


class Runner:
    def __init__(self, **environment):
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", RUNNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, **environment}, start_new_session=True)
        self.events = queue.Queue(maxsize=1000)
        self.ids = 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            line.decode("ascii")
            self.events.put(json.loads(line))
        self.events.put({"event": "gone"})

    def send(self, request):
        self.write(json.dumps(request))

    def write(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def next(self):
        event = self.events.get(timeout=LIMIT)
        if event["event"] == "gone":
            raise EOFError("the runner ended")
        return event

    def until(self, fits):
        seen = []
        while not seen or not fits(seen[-1]):
            seen.append(self.next())
        return seen

    def setup(self, cwd="/tmp", env=None, seed="00112233445566778899aabbccddeeff", unset=()):
        self.send({"op": "setup", "cwd": cwd, "env": env or {}, "seed": seed, "unset": list(unset)})
        return self.until(lambda event: event["event"] in ("ready", "refused"))[-1]

    def start(self, code, env=None):
        self.ids += 1
        self.send({"op": "run", "id": self.ids, "code": code, "env": env or {}})
        return self.until(lambda event: event["event"] == "begin")[-1:]

    def end(self, seen):
        return Outcome(seen + self.until(lambda event: event["event"] == "end" and event["id"] == self.ids))

    def run(self, code, env=None):
        return self.end(self.start(code, env))

    def interrupt(self):
        os.killpg(self.process.pid, signal.SIGINT)

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait(10)
        self.process.stdout.close()


class BashTest(unittest.TestCase):
    def setUp(self):
        self.runner = Runner()
        self.addCleanup(self.runner.close)
        self.assertEqual(self.runner.setup()["event"], "ready")
        self.run_cell = self.runner.run

    # The contract

    def test_echo_is_one_chunk(self):
        self.assertEqual(self.run_cell("echo 'Hello, World!'").outs, ["Hello, World!\n"])

    def test_directory_of_the_context(self):
        with tempfile.TemporaryDirectory() as directory:
            self.assertEqual(self.runner.setup(cwd=directory)["event"], "ready")
            self.assertEqual(self.run_cell("pwd").out, directory + "\n")
            self.run_cell("cd /usr")
            self.assertEqual(self.run_cell("pwd").out, "/usr\n")

    def test_missing_directory_is_refused(self):
        answer = self.runner.setup(cwd="/nowhere/at all")
        self.assertEqual((answer["event"], answer["reason"]), ("refused", "cannot enter /nowhere/at all"))
        self.assertEqual(self.run_cell("pwd").out, "/tmp\n")

    def test_state_stays(self):
        self.run_cell("x=5; f() { echo \"f $x\"; }; declare -A m=([k]=v); alias q='echo aliased'")
        self.assertEqual(self.run_cell("f; echo ${m[k]}\nq").out, "f 5\nv\naliased\n")

    def test_status_is_the_error(self):
        failed = self.run_cell("echo out; echo err >&2; (exit 42)")
        self.assertEqual(failed.error, {"event": "error", "name": "", "value": "42", "traceback": ""})
        self.assertEqual((failed.out, failed.err), ("out\n", "err\n"))
        self.assertIsNone(self.run_cell("false; true").error)

    def test_count_grows_for_broken_cells_too(self):
        counts = [self.run_cell(code).count for code in ("echo 'x", "false", "true")]
        self.assertEqual(counts, [1, 2, 3])

    def test_sandbox_variables(self):
        self.runner.setup(env={"FOO": "it's \"$x\" `y`\n\\z é"}, unset=["GONE"])
        self.assertEqual(self.run_cell("printf %s \"$FOO\"").out, "it's \"$x\" `y`\n\\z é")
        self.assertEqual(self.run_cell("env | grep -c ^FOO=").out, "1\n")

    def test_variables_of_one_cell(self):
        self.assertEqual(self.run_cell("env | grep ^ONCE=", {"ONCE": "a b"}).out, "ONCE=a b\n")
        self.assertEqual(self.run_cell("echo ${ONCE-gone}").out, "gone\n")

    def test_variables_of_one_cell_over_those_of_the_sandbox(self):
        self.runner.setup(env={"FOO": "default"})
        self.assertEqual(self.run_cell("echo $FOO", {"FOO": "mine"}).out, "mine\n")
        self.assertEqual(self.run_cell("echo $FOO; env | grep ^FOO=").out, "default\nFOO=default\n")
        self.run_cell("plain=1")
        self.run_cell("true", {"plain": "2"})
        self.assertEqual(self.run_cell("echo $plain; env | grep ^plain= || echo 'not exported'").out, "1\nnot exported\n")

    def test_variables_are_put_back_after_every_end(self):
        for code in ("false", "echo 'x", "set -u; echo $nothing", "echo ${x:?no}", "unset FOO"):
            self.run_cell(code, {"FOO": "mine"})
            self.assertEqual(self.run_cell("set +u; echo ${FOO-gone}").out, "gone\n", code)

    def test_seed(self):
        draw = lambda: self.run_cell("echo $RANDOM $RANDOM $RANDOM").out
        numbers = []
        for seed in ("00000001" + "0" * 24, "00000002" + "0" * 24, "00000001" + "0" * 24):
            self.runner.setup(seed=seed)
            numbers.append(draw())
        self.assertEqual(numbers[0], numbers[2])
        self.assertNotEqual(numbers[0], numbers[1])

    # Syntax

    def test_unterminated_quote(self):
        broken = self.run_cell("echo fine\necho \"unterminated")
        self.assertEqual(broken.status, 2)
        self.assertRegex(broken.err, "unexpected EOF while looking for matching")
        self.assertEqual(self.run_cell("echo alive").out, "alive\n")

    def test_syntax_error_says_what(self):
        broken = self.run_cell("\n\nif then")
        self.assertEqual(broken.status, 2)
        self.assertIn("syntax error near unexpected token `then'", broken.err)

    def test_heredocs_and_loops(self):
        self.assertEqual(self.run_cell("x=1\ncat <<EOF\nline $x\nEOF\nfor i in a b; do\n  echo $i\ndone").out, "line 1\na\nb\n")

    def test_indented_and_empty_cells(self):
        self.assertEqual(self.run_cell("    echo a\n    echo b\n").out, "a\nb\n")
        for code in ("", "\n", "# nothing"):
            self.assertIsNone(self.run_cell(code).error)

    # What a cell can do to its shell

    def test_set_e_ends_the_cell_and_not_the_shell(self):
        first = self.run_cell("kept=1\nset -euo pipefail\ng() { echo in; false; echo no; }\ng\necho no")
        self.assertEqual((first.out, first.status), ("in\n", 1))
        self.assertEqual(self.run_cell("echo $kept; if false; then :; fi; false || echo or; (exit 7); echo no").out, "1\nor\n")
        self.assertEqual(self.run_cell("(exit 7)").status, 7)
        self.assertEqual(self.run_cell("false | true").status, 1)
        self.assertEqual(self.run_cell("set +e; false; echo on").out, "on\n")
        self.assertEqual(self.run_cell("false; echo on").out, "on\n")

    def test_errors_that_end_scripts_end_only_the_cell(self):
        for code in ("set -u; echo $nothing", "set +u; echo ${nothing:?is needed}", "readonly R=1; R=2", "return 3", "break", "((1/0))",
                     "nosuchcommand", "cd /nowhere", "exec /nowhere/program", ". /nowhere/file", "shift 5"):
            self.run_cell(code + "\n")
            self.assertEqual(self.run_cell("set +u; echo alive").out, "alive\n", code)

    def test_closed_streams_last_for_the_cell(self):
        self.run_cell("exec 1>&- 2>&- 0<&-")
        self.assertEqual(self.run_cell("echo out; echo err >&2").out, "out\n")
        self.run_cell("exec >/dev/null")
        self.assertEqual(self.run_cell("echo out").out, "out\n")

    def test_input_is_empty(self):
        self.assertEqual(self.run_cell("read x; echo $?; cat | wc -c").out, "1\n0\n")

    def test_exit_ends_the_runner_after_its_output(self):
        self.runner.start("echo last; exit 4")
        seen = []
        with self.assertRaises(EOFError):
            while True:
                seen.append(self.runner.next())
        self.assertEqual(seen[0], {"event": "out", "text": "last\n"})
        self.assertEqual(self.runner.process.wait(LIMIT), 4)

    def test_exec_ends_the_runner(self):
        self.runner.start("exec true")
        with self.assertRaises(EOFError):
            self.runner.until(lambda event: False)

    # Output

    def test_output_streams(self):
        with tempfile.TemporaryDirectory() as directory:
            gate = os.path.join(directory, "gate")
            os.mkfifo(gate)
            seen = self.runner.start(f"echo one; cat {gate}; echo two")
            seen += self.runner.until(lambda event: event["event"] == "out")
            self.assertEqual(seen[-1]["text"], "one\n")
            with open(gate, "w") as opened:
                opened.write("opened\n")
            self.assertEqual(self.runner.end(seen).out, "one\nopened\ntwo\n")

    def test_background_jobs_do_not_hold_the_cell(self):
        done = self.run_cell("sleep 300 & sleep 300 && echo never & echo started")
        self.assertEqual((done.out, done.err), ("started\n", ""))
        self.assertEqual(self.run_cell("kill $(jobs -p) && echo killed; jobs -r").out.split("\n")[0], "killed")

    def test_background_job_that_floods_does_not_hold_the_cell(self):
        self.run_cell("yes & flood=$!")
        self.assertIsNone(self.run_cell("true").error)
        self.assertIn("killed", self.run_cell("kill $flood; echo killed").out)

    def test_odd_bytes(self):
        self.assertEqual(self.run_cell(r"printf 'a\xff\x00\x7f\xe2\x82'; printf '\xac \xf0\x9f\x98\x80\n'").out, "a\ufffd\0\x7f\u20ac \U0001f600\n")

    def test_much_output(self):
        done = self.run_cell("head -c 100000000 /dev/zero | tr '\\0' x; echo end >&2")
        self.assertEqual((len(done.out), done.err), (100_000_000, "end\n"))

    def test_long_cell(self):
        text = "é" * 5_000_000
        done = self.run_cell(f"x='{text}'\necho ${{#x}}; echo {'y' * 3_000_000} | wc -c")
        self.assertEqual(done.out, "5000000\n3000001\n")

    def test_long_variable(self):
        self.assertEqual(self.run_cell("echo ${#BIG}", {"BIG": "b" * 1_000_000}).out, "1000000\n")

    # Protocol

    def test_nonsense_is_passed_over(self):
        for line in ("", "nonsense", "{\"op\":\"run\"", "[]", "7", "{\"op\":\"unknown\"}", "{\"op\":\"run\",\"id\":1}"):
            self.runner.write(line)
        self.assertEqual(self.run_cell("echo fine").out, "fine\n")

    def test_setup_is_answered_after_the_cell_that_runs(self):
        seen = self.runner.start("echo started; sleep 300")
        self.runner.until(lambda event: event["event"] == "out")
        self.runner.send({"op": "setup", "n": 9, "env": {}, "unset": []})
        self.runner.interrupt()
        self.assertEqual(self.runner.end(seen).status, 130)
        self.assertEqual(self.runner.next(), {"n": 9, "event": "ready"})

    def test_end_of_requests_ends_the_runner_and_its_shell(self):
        shell = int(self.run_cell("echo $$").out)
        self.runner.process.stdin.close()
        self.assertEqual(self.runner.process.wait(LIMIT), 0)
        self.assertRaises(ProcessLookupError, self.wait_for_death, shell)
        self.runner.process.stdin = open(os.devnull, "wb")

    def wait_for_death(self, pid):
        for _ in range(LIMIT * 100):
            with open(f"/proc/{pid}/stat", "rb") if os.path.exists(f"/proc/{pid}/stat") else open(os.devnull, "rb") as stat:
                if b") Z" in (line := stat.read()) or not line:
                    raise ProcessLookupError
            threading.Event().wait(0.01)

    def test_descriptors_of_the_runner_are_out_of_reach(self):
        self.assertEqual(self.run_cell("ls /proc/self/fd | tr '\\n' ' '").out, "0 1 2 3 ")

    # Interrupt

    def interrupt_of(self, code):
        for _ in range(2):
            seen = self.runner.start(f"kept=7; echo started\n{code}\necho no", {"ONCE": "x"})
            seen += self.runner.until(lambda event: event["event"] == "out" and "started" in event["text"])
            self.runner.interrupt()
            done = self.runner.end(seen)
            self.assertEqual((done.status, done.out), (130, "started\n"), code)
            self.assertEqual(self.run_cell("echo $kept ${ONCE-gone}").out, "7 gone\n", code)

    def test_interrupt(self):
        for code in ("sleep 300", "while :; do :; done", "while :; do sleep 0.01; done", "sleep 300 | cat | cat", "x=$(sleep 300)", "wait_for() { sleep 300; }; wait_for",
                     "f() { while :; do :; done; }; f", "(sleep 300; echo no)", "read x < <(sleep 300)", "sleep 300 & wait"):
            with self.subTest(code):
                self.interrupt_of(code)

    def test_interrupt_under_set_e(self):
        for code in ("set -e; sleep 300", "set -e; f() { while :; do sleep 0.01; done; }; f", "set -e; while :; do :; done"):
            with self.subTest(code):
                self.interrupt_of(code)

    def test_interrupt_between_cells_is_ignored(self):
        for _ in range(30):
            self.runner.interrupt()
        self.runner.send({"op": "setup", "n": 1, "env": {}, "unset": []})
        self.runner.until(lambda event: event["event"] == "ready")
        self.assertEqual(self.run_cell("true; echo alive").out, "alive\n")

    def test_interrupt_at_any_moment_of_short_cells(self):
        for round in range(60):
            seen = self.runner.start("x=$((x + 1))")
            if round % 2:
                self.runner.interrupt()
            self.assertIn(self.runner.end(seen).status, (0, 130))
        self.assertEqual(self.run_cell(":").status in (0, 130), True)
        self.assertEqual(self.run_cell("echo alive").out, "alive\n")

    def test_background_jobs_survive_an_interrupt(self):
        self.run_cell("sleep 300 & job=$!")
        self.interrupt_of("sleep 300")
        self.assertEqual(self.run_cell("kill -0 $job && echo lives; kill $job").out, "lives\n")


if __name__ == "__main__":
    unittest.main()
