package dev.cay.sdk;

import dev.cay.sdk.SandboxException.Kind;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/// Files that outlive sandboxes. Several sandboxes can mount a volume at the same time. Paths are absolute, and `/` is
/// the root of the volume. An instance is valid for a day; then {@link Cay#volume} connects again.
public final class Volume {
    /// Limit of a whole upload, which may be large, including its answer.
    private static final Duration UPLOAD_LIMIT = Duration.ofHours(1);

    private final Api api;
    private final String id;
    private final String name;
    private final String token;

    private Volume(Api api, String id, String name, String token) {
        this.api = api;
        this.id = id;
        this.name = name;
        this.token = token;
    }

    static Volume of(Api api, JsonNode json) {
        return new Volume(
                api,
                json.path("volumeID").asString(),
                json.path("name").asString(),
                json.path("token").asString());
    }

    public String id() {
        return id;
    }

    public String name() {
        return name;
    }

    /// Lists a directory.
    public List<VolumeEntry> list(String path) {
        return list(path, 1);
    }

    /// @param depth number of levels; 1 lists only the directory itself
    public List<VolumeEntry> list(String path, int depth) {
        var request = request("dir", path, Map.of("depth", Integer.toString(depth)));
        return api.json(request.GET().build())
                .valueStream()
                .map(VolumeEntry::of)
                .toList();
    }

    /// Creates a directory and missing parent directories. Does nothing if it exists.
    public VolumeEntry makeDirectory(String path) {
        var request = request("dir", path, Map.of("force", "true"));
        return VolumeEntry.of(api.json(request.POST(BodyPublishers.noBody()).build()));
    }

    public VolumeEntry info(String path) {
        return VolumeEntry.of(api.json(request("path", path, Map.of()).GET().build()));
    }

    public boolean exists(String path) {
        try {
            info(path);
            return true;
        } catch (SandboxException e) {
            if (e.kind() == Kind.NOT_FOUND) {
                return false;
            }
            throw e;
        }
    }

    /// Changes the owner and permissions of a file or directory.
    ///
    /// @param uid  null for no change
    /// @param gid  null for no change
    /// @param mode permissions; null for no change
    public VolumeEntry change(String path, @Nullable Integer uid, @Nullable Integer gid, @Nullable Integer mode) {
        var body = new LinkedHashMap<String, Object>();
        putIfSaid(body, "uid", uid);
        putIfSaid(body, "gid", gid);
        putIfSaid(body, "mode", mode);
        var json = Http.JSON.writeValueAsString(body);
        return VolumeEntry.of(api.json(request("path", path, Map.of())
                .header("Content-Type", "application/json")
                .method("PATCH", BodyPublishers.ofString(json))
                .build()));
    }

    private static void putIfSaid(Map<String, Object> body, String field, @Nullable Integer value) {
        if (value != null) {
            body.put(field, value);
        }
    }

    public String read(String path) {
        return new String(readBytes(path), StandardCharsets.UTF_8);
    }

    public byte[] readBytes(String path) {
        return api.http().bytes(request("file", path, Map.of()).GET().build());
    }

    /// Opens a file of any size. The caller reads and closes the stream.
    public InputStream open(String path) {
        return api.http().open(request("file", path, Map.of()).GET().build()).body();
    }

    /// Downloads a file of any size to a local file.
    public void download(String path, Path to) {
        try (var in = open(path)) {
            Files.copy(in, to, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException e) {
            throw new SandboxException(
                    Kind.FAILED, "cannot download %s to %s: %s".formatted(path, to, e.getMessage()), e);
        }
    }

    /// Writes a file, replaces an existing one, and creates missing parent directories.
    public VolumeEntry write(String path, String text) {
        return write(path, BodyPublishers.ofString(text));
    }

    public VolumeEntry write(String path, byte[] bytes) {
        return write(path, BodyPublishers.ofByteArray(bytes));
    }

    /// Writes a file from a stream of any size. The caller closes the stream.
    public VolumeEntry write(String path, InputStream content) {
        return write(path, BodyPublishers.ofInputStream(() -> content));
    }

    /// Uploads a local file of any size.
    public VolumeEntry upload(Path from, String path) {
        try {
            return write(path, BodyPublishers.ofFile(from));
        } catch (FileNotFoundException e) {
            throw new SandboxException(Kind.NOT_FOUND, "there is no file " + from, e);
        }
    }

    private VolumeEntry write(String path, BodyPublisher content) {
        return VolumeEntry.of(api.http()
                .json(request("file", path, Map.of("force", "true"))
                        .timeout(UPLOAD_LIMIT)
                        .header("Content-Type", "application/octet-stream")
                        .PUT(content)
                        .build()));
    }

    /// Deletes a file, or a directory with its content.
    ///
    /// @return whether it existed
    public boolean remove(String path) {
        try {
            api.json(request("path", path, Map.of()).DELETE().build());
            return true;
        } catch (SandboxException e) {
            if (e.kind() == Kind.NOT_FOUND) {
                return false;
            }
            throw e;
        }
    }

    private HttpRequest.Builder request(String kind, String path, Map<String, String> more) {
        var query = new LinkedHashMap<String, String>();
        query.put("path", path);
        query.putAll(more);
        return api.request("/volumecontent/%s/%s%s".formatted(Api.encode(id), kind, Api.query(query)), token);
    }

    /// The text leaves out the token.
    @Override
    public String toString() {
        return "Volume[id=%s, name=%s]".formatted(id, name);
    }
}
