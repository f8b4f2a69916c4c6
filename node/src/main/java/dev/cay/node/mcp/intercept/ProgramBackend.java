package dev.cay.node.mcp.intercept;

import dev.cay.node.host.OperatorProgram;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Runs a program on this host for each call. Only the operator sees its error output.
///
/// @param name its name in messages
record ProgramBackend(String name, OperatorProgram program) implements InterceptorBackend {
    private static final Logger log = LoggerFactory.getLogger(ProgramBackend.class);

    @Override
    public byte[] ask(byte[] question, Duration limit) throws InterruptedException {
        var answer = program.ask(question, MOST, limit);
        if (answer.exit() != 0) {
            log.atWarn()
                    .addKeyValue("interceptor", name)
                    .addKeyValue("exit", answer.exit())
                    .addKeyValue("complaint", answer.complaint())
                    .log("an interceptor failed");
            throw new CayException(ErrorKind.FAILED, "ended with %d".formatted(answer.exit()));
        }
        return answer.output();
    }
}
