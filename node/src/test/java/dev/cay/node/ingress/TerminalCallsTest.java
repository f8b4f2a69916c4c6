package dev.cay.node.ingress;

import static org.assertj.core.api.Assertions.assertThat;

import dev.cay.testing.NeedsRoot;
import java.util.Arrays;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Terminals as `pty.create` of the clients starts and uses them.
@Timeout(120)
@NeedsRoot
class TerminalCallsTest {
    private static final String SIZE = ",\"pty\":{\"size\":{\"cols\":80,\"rows\":24}}";

    private ProcessLab lab;

    @BeforeEach
    void start() throws Exception {
        lab = new ProcessLab();
    }

    @AfterEach
    void stop() throws Exception {
        lab.close();
    }

    /// A shell without the files of this host's user, so that its prompt is known.
    private ProcessLab.Events shell() throws Exception {
        return lab.open(
                "Start",
                "{\"process\":{\"cmd\":\"/bin/bash\",\"args\":[\"--noprofile\",\"--norc\",\"-i\"],"
                        + "\"envs\":{\"TERM\":\"xterm-256color\",\"PS1\":\"ready> \",\"LANG\":\"C.UTF-8\"}}"
                        + SIZE + "}");
    }

    private void type(int pid, String keys) throws Exception {
        var answer = lab.call(
                "SendInput",
                "{\"process\":{\"pid\":%d},\"input\":{\"pty\":\"%s\"}}".formatted(pid, ProcessLab.base64(keys)));
        assertThat(answer.body()).isEqualTo("{}");
    }

    /// Waits until the command runs: before that, the terminal still has the shell's modes, and keys go to the shell.
    private void runInFront(ProcessLab.Events shell, int pid, String command) throws Exception {
        type(pid, "sh -c 'echo st\"\"arted; exec %s'\r".formatted(command));
        shell.until("started\r\n");
    }

    private void resize(int pid, int columns, int rows) throws Exception {
        var answer = lab.call(
                "Update",
                "{\"process\":{\"pid\":%d},\"pty\":{\"size\":{\"cols\":%d,\"rows\":%d}}}"
                        .formatted(pid, columns, rows));
        assertThat(answer.body()).isEqualTo("{}");
    }

    @Test
    void aShellHasATerminalOfTheSizeAskedFor() throws Exception {
        try (var shell = shell()) {
            int pid = shell.pid();
            shell.until("ready> ");
            type(pid, "stty size; tty; echo $TERM $(tput colors)\r");
            String heard = shell.until("256\r\n");
            assertThat(heard).contains("24 80\r\n", "/dev/pts/", "xterm-256color 256");
            resize(pid, 132, 50);
            type(pid, "stty size\r");
            assertThat(shell.until("50 132\r\n")).contains("stty size");
            type(pid, "printf '\\033[31mred\\033[0m\\n'\r");
            assertThat(shell.until("\033[31mred\033[0m")).contains("printf");
            type(pid, "exit 7\r");
            var rest = shell.rest();
            assertThat(rest.end())
                    .isEqualTo(
                            "{\"event\":{\"end\":{\"exitCode\":7,\"exited\":true,\"status\":\"exit status 7\",\"error\":\"exit status 7\"}}}");
            assertThat(rest.last()).isEqualTo("{}");
        }
    }

    @Test
    void controlKeysReachWhatRunsInFront() throws Exception {
        try (var shell = shell()) {
            int pid = shell.pid();
            shell.until("ready> ");
            runInFront(shell, pid, "sleep 1000");
            type(pid, "\003");
            assertThat(shell.until("ready> ")).contains("^C");
            type(pid, "echo $?\r");
            shell.until("130\r\n");
            runInFront(shell, pid, "cat");
            type(pid, "line\r");
            shell.until("line\r\nline\r\n");
            type(pid, "\004");
            shell.until("ready> ");
            type(pid, "\004");
            assertThat(shell.rest().end()).contains("\"exited\":true", "exit status 0");
        }
    }

    /// The program reads with a timeout: ncurses loses a signal that arrives between its look at the flag and its read,
    /// and looks at the flag again at the next read.
    @Test
    void aFullScreenProgramHearsOfEachNewSize() throws Exception {
        String program = """
                import curses, os, signal, sys
                screen = curses.initscr()
                curses.cbreak(); screen.keypad(True); screen.timeout(200)
                def show():
                    size = os.get_terminal_size(1)
                    screen.clear(); screen.addstr(0, 0, 'now %dx%d!' % size); screen.refresh()
                show()
                while True:
                    key = screen.getch()
                    if key == curses.KEY_RESIZE:
                        curses.update_lines_cols(); show()
                    elif key == ord('q'):
                        break
                curses.endwin()
                sys.exit(5)
                """;
        try (var screen = lab.open(
                "Start",
                "{\"process\":{\"cmd\":\"python3\",\"args\":[\"-c\",\"%s\"],\"envs\":{\"TERM\":\"xterm-256color\"}}%s}"
                        .formatted(program.replace("\n", "\\n"), SIZE))) {
            int pid = screen.pid();
            screen.until("80x24!");
            for (int[] size : new int[][] {{100, 30}, {40, 10}, {211, 67}}) {
                resize(pid, size[0], size[1]);
                screen.until(size[0] + "x" + size[1] + "!");
            }
            type(pid, "q");
            assertThat(screen.rest().end()).contains("\"exitCode\":5");
        }
    }

    @Test
    void tenMegabytesArriveWhole() throws Exception {
        String script = "stty raw -echo; head -c 10000000 /dev/zero | tr '\\0' x; printf end";
        try (var events = lab.start(script, SIZE)) {
            events.pid();
            var rest = events.rest();
            byte[] expected = new byte[10_000_003];
            Arrays.fill(expected, (byte) 'x');
            System.arraycopy("end".getBytes(), 0, expected, 10_000_000, 3);
            assertThat(rest.output()).hasSize(expected.length);
            assertThat(Arrays.equals(rest.output(), expected)).isTrue();
            assertThat(rest.end()).contains("exit status 0");
        }
    }

    @Test
    void aTerminalOutlivesItsClientAndCanBeTakenUpAgain() throws Exception {
        int pid;
        try (var shell = shell()) {
            pid = shell.pid();
            shell.until("ready> ");
        }
        assertThat(lab.call("List", "{}").body()).contains("\"pid\":" + pid);
        try (var again = lab.open("Connect", "{\"process\":{\"pid\":%d}}".formatted(pid))) {
            assertThat(again.pid()).isEqualTo(pid);
            type(pid, "echo back; stty size\r");
            again.until("24 80\r\n");
            lab.call("SendSignal", "{\"process\":{\"pid\":%d},\"signal\":\"SIGNAL_SIGKILL\"}".formatted(pid));
            assertThat(again.rest().end())
                    .isEqualTo(
                            "{\"event\":{\"end\":{\"exitCode\":-1,\"status\":\"signal: killed\",\"error\":\"signal: killed\"}}}");
        }
    }
}
