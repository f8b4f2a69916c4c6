package dev.cay.cli;

import dev.cay.config.CayConfig;
import dev.cay.node.host.Programs;
import dev.cay.node.image.HouseTemplate;
import dev.cay.node.image.LayerStore;

/// The templates that come with Cay, as a command sees them.
final class HouseTemplates {
    private HouseTemplates() {}

    static HouseTemplate of(CayConfig config, String name) {
        return new HouseTemplate(
                name, new LayerStore(config.cacheDir()), Programs.ofHost(), DaemonLog.directory(config.stateDir()));
    }
}
