package dev.cay.sdk;

import java.util.LinkedHashMap;
import java.util.Map;

/// A volume in a sandbox.
///
/// @param volume name of the volume
/// @param path   absolute path of the mount
public record VolumeMount(String volume, String path, boolean readOnly) {
    Map<String, Object> body() {
        var body = new LinkedHashMap<String, Object>();
        body.put("name", volume);
        body.put("path", path);
        if (readOnly) {
            body.put("readOnly", true);
        }
        return body;
    }
}
