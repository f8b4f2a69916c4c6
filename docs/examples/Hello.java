import dev.cay.sdk.Cay;
import dev.cay.sdk.Cell;
import dev.cay.sdk.Command;

void main() {
    // @start region="hello"
    try (var cay = Cay.fromEnvironment();
            var sandbox = cay.create("code-interpreter-v1")) {
        sandbox.files().write("names.txt", "Ada\nGrace\n");

        var sorted = sandbox.commands().run("sort -r names.txt");
        IO.print(sorted.stdout());

        sandbox.commands().run(Command.of("for i in 1 2 3; do echo $i; sleep 0.2; done").onStdout(IO::print));

        var execution = sandbox.runCode(Cell.of("len(open('names.txt').read())"));
        IO.println(execution.text().orElse("no value"));
    }
    // @end
}
