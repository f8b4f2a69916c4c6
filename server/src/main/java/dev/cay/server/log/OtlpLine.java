package dev.cay.server.log;

import dev.cay.wire.node.LogLine;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// A line of a log on its way to an OTLP receiver.
///
/// @param source what the line is about, as resource attributes
record OtlpLine(Map<String, String> source, LogLine line) {
    private static final int MOST_TEXT = 2000;
    private static final int MOST_FIELDS = 32;

    OtlpLine {
        source = Map.copyOf(source);
    }

    /// OTLP's JSON for some lines, grouped by what they are about.
    static Map<String, Object> request(List<OtlpLine> lines) {
        var bySource = new LinkedHashMap<Map<String, String>, List<Object>>();
        for (var line : lines) {
            bySource.computeIfAbsent(line.source, _ -> new ArrayList<>()).add(line.record());
        }
        var resources = new ArrayList<Map<String, Object>>();
        bySource.forEach((source, records) -> resources.add(Map.of(
                "resource",
                Map.of("attributes", attributes(source)),
                "scopeLogs",
                List.of(Map.of("scope", Map.of("name", "cay"), "logRecords", records)))));
        return Map.of("resourceLogs", resources);
    }

    private Map<String, Object> record() {
        var fields = new TreeMap<String, String>();
        line.fields().entrySet().stream()
                .limit(MOST_FIELDS)
                .forEach(field -> fields.put(cut(field.getKey()), cut(field.getValue())));
        fields.put("logger", line.logger());
        return Map.of(
                // Numbers of 64 bits are texts in OTLP's JSON.
                "timeUnixNano",
                Long.toString(line.at().toEpochMilli() * 1_000_000),
                "severityNumber",
                severity(line.level()),
                "severityText",
                line.level().name(),
                "body",
                Map.of("stringValue", cut(line.message())),
                "attributes",
                attributes(fields));
    }

    private static List<Map<String, Object>> attributes(Map<String, String> values) {
        return new TreeMap<>(values)
                .entrySet().stream()
                        .map(value -> Map.<String, Object>of(
                                "key", value.getKey(), "value", Map.of("stringValue", value.getValue())))
                        .toList();
    }

    private static int severity(LogLine.Level level) {
        return switch (level) {
            case DEBUG -> 5;
            case INFO -> 9;
            case WARN -> 13;
            case ERROR -> 17;
        };
    }

    private static String cut(String text) {
        return SandboxLogs.cut(text, MOST_TEXT);
    }
}
