package dev.cay.dockerfile;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The values that the caller of a build sets.
///
/// @param values   values of ARGs, by name
/// @param platform the platform that the build makes and runs on, like `linux/amd64` or `linux/arm/v7`
public record BuildArguments(Map<String, String> values, String platform) {
    private static final List<String> PROXIES = List.of(
            "HTTP_PROXY",
            "http_proxy",
            "HTTPS_PROXY",
            "https_proxy",
            "FTP_PROXY",
            "ftp_proxy",
            "NO_PROXY",
            "no_proxy",
            "ALL_PROXY",
            "all_proxy");

    public BuildArguments {
        values = Map.copyOf(values);
        if (!platform.matches("linux/[a-z0-9]{1,20}(/[a-z0-9]{1,10})?")) {
            throw new IllegalArgumentException("not a platform of Linux: " + platform);
        }
    }

    /// Arguments for a build on this machine.
    public static BuildArguments ofHost(Map<String, String> values) {
        String processor = System.getProperty("os.arch");
        return new BuildArguments(
                values,
                switch (processor) {
                    case "x86_64" -> "linux/amd64";
                    case "aarch64" -> "linux/arm64";
                    default -> "linux/" + processor;
                });
    }

    /// Arguments that a RUN sees without an ARG. They must not count for a cache key.
    public Map<String, String> proxies() {
        var proxies = new LinkedHashMap<String, String>();
        for (String name : PROXIES) {
            String value = values.get(name);
            if (value != null) {
                proxies.put(name, value);
            }
        }
        return proxies;
    }

    /// The platform by the names that FROM always sees, and that a stage sees after an ARG.
    Map<String, String> platformArguments() {
        String[] parts = platform.split("/", -1);
        var arguments = new LinkedHashMap<String, String>();
        for (String side : List.of("TARGET", "BUILD")) {
            arguments.put(side + "PLATFORM", platform);
            arguments.put(side + "OS", parts[0]);
            arguments.put(side + "ARCH", parts[1]);
            arguments.put(side + "VARIANT", parts.length > 2 ? parts[2] : "");
        }
        return arguments;
    }
}
