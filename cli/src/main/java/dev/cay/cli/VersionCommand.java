package dev.cay.cli;

import dev.cay.wire.CayVersion;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;

@Command(name = "version", mixinStandardHelpOptions = true, description = "Print which Cay and which Java this is.")
final class VersionCommand implements Callable<Integer>, IVersionProvider {
    @Override
    public Integer call() {
        System.out.println(String.join("\n", getVersion()));
        return 0;
    }

    @Override
    public String[] getVersion() {
        return new String[] {"cay " + CayVersion.text(), "java " + System.getProperty("java.runtime.version")};
    }
}
