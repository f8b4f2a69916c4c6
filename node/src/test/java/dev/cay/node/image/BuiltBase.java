package dev.cay.node.image;

import dev.cay.node.host.Programs;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The base template of this machine, for tests that need what is in it. One that nobody has made yet is made now, by
/// the daemon's own code and in its cache: whoever else wants it meanwhile waits, and all find it afterwards.
public final class BuiltBase {
    private static final Logger log = LoggerFactory.getLogger(BuiltBase.class);
    private static final LayerStore LAYERS = new LayerStore(Path.of("/var/cache/cay"));

    private BuiltBase() {}

    /// Root directory of its layer. Takes minutes where there is none, and milliseconds otherwise.
    public static Path rootfs() {
        var template = new HouseTemplate(HouseTemplate.BASE, LAYERS, Programs.ofHost(), Path.of("target/logs"));
        if (!template.isBuilt()) {
            log.atInfo().log("making the base template, which takes minutes");
        }
        return LAYERS.require(template.build((_, _, _) -> {}).getLast());
    }
}
