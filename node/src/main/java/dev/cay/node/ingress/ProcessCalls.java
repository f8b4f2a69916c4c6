package dev.cay.node.ingress;

import dev.cay.connect.ConnectRoutes;
import dev.cay.connect.Sink;
import dev.cay.node.files.Account;
import dev.cay.node.files.SandboxPath;
import dev.cay.node.guest.Exit;
import dev.cay.node.process.Launch;
import dev.cay.node.process.Output;
import dev.cay.node.process.SandboxProcess;
import dev.cay.node.process.Selector;
import dev.cay.node.process.Subscription;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import dev.cay.wire.process.CloseStdinRequest;
import dev.cay.wire.process.CloseStdinResponse;
import dev.cay.wire.process.ConnectRequest;
import dev.cay.wire.process.ConnectResponse;
import dev.cay.wire.process.ListRequest;
import dev.cay.wire.process.ListResponse;
import dev.cay.wire.process.ProcessEvent;
import dev.cay.wire.process.ProcessInput;
import dev.cay.wire.process.ProcessSelector;
import dev.cay.wire.process.SendInputRequest;
import dev.cay.wire.process.SendInputResponse;
import dev.cay.wire.process.SendSignalRequest;
import dev.cay.wire.process.SendSignalResponse;
import dev.cay.wire.process.StartRequest;
import dev.cay.wire.process.StartResponse;
import dev.cay.wire.process.StreamInputRequest;
import dev.cay.wire.process.StreamInputResponse;
import dev.cay.wire.process.UpdateRequest;
import dev.cay.wire.process.UpdateResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/// `process.Process`: start, follow and steer processes.
final class ProcessCalls {
    private static final String PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    private static final String SERVICE = "/process.Process/";
    /// A command is killed this long after its stream has reported the timeout.
    private static final Duration GRACE = Duration.ofMillis(250);

    private static final Duration EARLY = Duration.ofMillis(100);

    private final EnvdSandbox sandbox;
    private final Users users;

    ProcessCalls(EnvdSandbox sandbox, Users users) {
        this.sandbox = sandbox;
        this.users = users;
    }

    void addTo(ConnectRoutes calls) {
        calls.serverStream(SERVICE + "Start", StartRequest.getDefaultInstance(), this::start)
                .serverStream(SERVICE + "Connect", ConnectRequest.getDefaultInstance(), this::connect)
                .unary(SERVICE + "List", ListRequest.getDefaultInstance(), (_, _) -> list())
                .unary(SERVICE + "SendInput", SendInputRequest.getDefaultInstance(), (_, request) -> {
                    write(require(request.getProcess()), request.getInput());
                    return SendInputResponse.getDefaultInstance();
                })
                .clientStream(
                        SERVICE + "StreamInput",
                        StreamInputRequest.getDefaultInstance(),
                        (_, requests) -> streamInput(requests))
                .unary(SERVICE + "SendSignal", SendSignalRequest.getDefaultInstance(), (_, request) -> signal(request))
                .unary(SERVICE + "CloseStdin", CloseStdinRequest.getDefaultInstance(), (_, request) -> {
                    require(request.getProcess()).input().closeStdin();
                    return CloseStdinResponse.getDefaultInstance();
                })
                .unary(SERVICE + "Update", UpdateRequest.getDefaultInstance(), (_, request) -> update(request));
    }

    private void start(ConnectRoutes.Call call, StartRequest request, Sink<StartResponse> answers) throws Exception {
        Duration limit = call.timeout();
        var launch = launch(request, users.ofCall(call.exchange()), limit);
        long begun = System.nanoTime();
        try (var following = new Following(sandbox.processes().start(launch), sandbox.followers(), call.exchange())) {
            try {
                follow(
                        call,
                        following,
                        limit,
                        answers.accepting(event ->
                                StartResponse.newBuilder().setEvent(event).build()));
            } finally {
                if (isUp(limit, begun)) {
                    // The timeout's interrupt must not stop the kill.
                    boolean interrupted = Thread.interrupted();
                    following.process().killNow();
                    if (interrupted) {
                        Thread.currentThread().interrupt();
                    }
                }
            }
        }
    }

    private void connect(ConnectRoutes.Call call, ConnectRequest request, Sink<ConnectResponse> answers)
            throws Exception {
        var process = sandbox.processes().require(selected(request.getProcess()));
        var offsets = OutputFrom.parse(call.exchange().header(OutputFrom.HEADER));
        var subscription = offsets == null ? Subscription.to(process) : Subscription.to(process, offsets);
        try (var following = new Following(subscription, sandbox.followers(), call.exchange())) {
            if (offsets != null) {
                call.exchange().with(OutputFrom.HEADER, OutputFrom.format(subscription.positions()));
            }
            follow(
                    call,
                    following,
                    null,
                    answers.accepting(event ->
                            ConnectResponse.newBuilder().setEvent(event).build()));
        }
    }

    private static void follow(
            ConnectRoutes.Call call, Following following, @Nullable Duration limit, Sink<ProcessEvent> events)
            throws Exception {
        Duration keepalive = Keepalive.of(call.exchange());
        long begun = System.nanoTime();
        events.send(
                ProcessEvent.newBuilder()
                        .setStart(ProcessEvent.StartEvent.newBuilder()
                                .setPid(following.process().pid()))
                        .build(),
                () -> {});
        while (true) {
            switch (following.next(keepalive)) {
                case Output.Data data -> {
                    events.send(dataEvent(data), following::sending);
                    following.sent();
                }
                case Output.Silence() ->
                    events.send(
                            ProcessEvent.newBuilder()
                                    .setKeepalive(ProcessEvent.KeepAlive.getDefaultInstance())
                                    .build(),
                            () -> {});
                case Output.End(Exit exit) -> {
                    if (isUp(limit, begun)) {
                        throw new CayException(ErrorKind.DEADLINE_EXCEEDED, "context deadline exceeded");
                    }
                    events.sendLast(endEvent(exit));
                    return;
                }
            }
        }
    }

    /// Whether the limit has passed. The clock that ends the stream started a little earlier.
    private static boolean isUp(@Nullable Duration limit, long begun) {
        return limit != null && System.nanoTime() - begun >= limit.minus(EARLY).toNanos();
    }

    private static ProcessEvent dataEvent(Output.Data output) {
        var data = ProcessEvent.DataEvent.newBuilder();
        switch (output.channel()) {
            case STDOUT -> data.setStdout(output.bytes());
            case STDERR -> data.setStderr(output.bytes());
            case PTY -> data.setPty(output.bytes());
        }
        return ProcessEvent.newBuilder().setData(data).build();
    }

    private static ProcessEvent endEvent(Exit exit) {
        var end = ProcessEvent.EndEvent.newBuilder()
                .setExitCode(exit.bySignal() ? -1 : exit.code())
                .setExited(!exit.bySignal())
                .setStatus(exit.status());
        if (!exit.success()) {
            end.setError(exit.error());
        }
        return ProcessEvent.newBuilder().setEnd(end).build();
    }

    private Launch launch(StartRequest request, Account user, @Nullable Duration limit) {
        var config = request.getProcess();
        if (config.getCmd().isEmpty()) {
            throw new CayException(ErrorKind.INVALID_ARGUMENT, "process.cmd is missing");
        }
        var command = new ArrayList<String>();
        command.add(config.getCmd());
        command.addAll(config.getArgsList());
        String directory = sandbox.defaultWorkdir() == null ? user.home() : sandbox.defaultWorkdir();
        var size = request.getPty().getSize();
        return new Launch(
                command,
                environment(user, config.getEnvsMap()),
                config.getEnvsMap(),
                SandboxPath.resolve(config.getCwd(), user, directory).text(),
                user.name(),
                user.uid(),
                user.gid(),
                user.groups(),
                request.hasPty() ? new Launch.TerminalSize(size.getCols(), size.getRows()) : null,
                !request.hasStdin() || request.getStdin(),
                request.hasTag() ? request.getTag() : null,
                limit == null ? null : limit.plus(GRACE));
    }

    private Map<String, String> environment(Account user, Map<String, String> requested) {
        var all = new TreeMap<String, String>();
        all.put("PATH", PATH);
        all.put("HOME", user.home());
        all.put("USER", user.name());
        all.put("LOGNAME", user.name());
        all.putAll(sandbox.defaults());
        all.putAll(sandbox.environment());
        all.putAll(requested);
        all.putAll(sandbox.identity());
        for (String name : all.keySet()) {
            if (name.isEmpty() || name.indexOf('=') >= 0) {
                throw new CayException(ErrorKind.INVALID_ARGUMENT, "'%s' is no name of a variable".formatted(name));
            }
        }
        return all;
    }

    private ListResponse list() {
        var answer = ListResponse.newBuilder();
        sandbox.processes().list().forEach(process -> answer.addProcesses(process.info()));
        return answer.build();
    }

    private SendSignalResponse signal(SendSignalRequest request) {
        int signal = switch (request.getSignal()) {
            case SIGNAL_SIGKILL -> 9;
            case SIGNAL_SIGTERM -> 15;
            case SIGNAL_UNSPECIFIED, UNRECOGNIZED ->
                throw new CayException(ErrorKind.NOT_IMPLEMENTED, "only SIGNAL_SIGKILL and SIGNAL_SIGTERM can be sent");
        };
        require(request.getProcess()).signal(signal);
        return SendSignalResponse.getDefaultInstance();
    }

    private UpdateResponse update(UpdateRequest request) {
        var process = require(request.getProcess());
        if (request.hasPty()) {
            var size = request.getPty().getSize();
            process.resize(new Launch.TerminalSize(size.getCols(), size.getRows()));
        }
        return UpdateResponse.getDefaultInstance();
    }

    private StreamInputResponse streamInput(Iterator<StreamInputRequest> requests) throws IOException {
        SandboxProcess process = null;
        while (requests.hasNext()) {
            var request = requests.next();
            switch (request.getEventCase()) {
                case START -> process = require(request.getStart().getProcess());
                case DATA -> {
                    if (process == null) {
                        throw new CayException(ErrorKind.INVALID_ARGUMENT, "the first message must name the process");
                    }
                    write(process, request.getData().getInput());
                }
                case KEEPALIVE, EVENT_NOT_SET -> {}
            }
        }
        return StreamInputResponse.getDefaultInstance();
    }

    private static void write(SandboxProcess process, ProcessInput input) throws IOException {
        switch (input.getInputCase()) {
            case STDIN -> process.input().writeStdin(input.getStdin().toByteArray());
            case PTY -> process.input().writeTerminal(input.getPty().toByteArray());
            case INPUT_NOT_SET -> throw new CayException(ErrorKind.INVALID_ARGUMENT, "input is neither stdin nor pty");
        }
    }

    private SandboxProcess require(ProcessSelector selector) {
        return sandbox.processes().requireAlive(selected(selector));
    }

    private static Selector selected(ProcessSelector selector) {
        return switch (selector.getSelectorCase()) {
            case PID -> new Selector.Pid(selector.getPid());
            case TAG -> new Selector.Tag(selector.getTag());
            case SELECTOR_NOT_SET ->
                throw new CayException(ErrorKind.INVALID_ARGUMENT, "process is missing: name its pid or its tag");
        };
    }
}
