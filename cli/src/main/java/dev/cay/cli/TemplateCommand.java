package dev.cay.cli;

import dev.cay.config.CayConfig;
import dev.cay.life.Progress;
import dev.cay.node.host.Programs;
import dev.cay.node.image.BuildProgress;
import dev.cay.node.image.HouseTemplate;
import dev.cay.node.image.LayerStore;
import java.time.InstantSource;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

@Command(
        name = "template",
        mixinStandardHelpOptions = true,
        description = "Show the templates that come with Cay, or make one now.",
        subcommands = {TemplateCommand.ListAll.class, TemplateCommand.Build.class},
        footer = {
            "",
            "A template is made once on a machine, for all its Cays. base is made by the first `cay up`, those of",
            "templates.prepare behind it in the background, others when somebody asks for them.",
            "",
            "Examples:",
            "  sudo ./cay template list",
            "  sudo ./cay template build code-interpreter-v1"
        })
final class TemplateCommand implements Callable<Integer> {
    @Mixin
    private ConfigOptions options = new ConfigOptions();

    @Override
    public Integer call() {
        return list(options.config());
    }

    private static int list(CayConfig config) {
        Root.require("template", "to look into the cache of templates");
        for (String name : HouseTemplate.names()) {
            System.out.println(String.format(Locale.ROOT, "%-24s %s", name, state(template(config, name))));
        }
        return 0;
    }

    private static String state(HouseTemplate template) {
        return template.isBuilt()
                ? "ready, " + PoolCommand.size(template.size())
                : template.underWay().map(news -> "being made: " + news).orElse("not made yet");
    }

    private static HouseTemplate template(CayConfig config, String name) {
        return new HouseTemplate(
                name, new LayerStore(config.cacheDir()), Programs.ofHost(), DaemonLog.directory(config.stateDir()));
    }

    @Command(
            name = "list",
            mixinStandardHelpOptions = true,
            description = "Show which templates come with Cay, and whether they have been made on this machine.",
            footer = {"", "Examples:", "  sudo ./cay template list"})
    static final class ListAll implements Callable<Integer> {
        @Mixin
        private ConfigOptions options = new ConfigOptions();

        @Override
        public Integer call() {
            return list(options.config());
        }
    }

    @Command(
            name = "build",
            mixinStandardHelpOptions = true,
            description = "Make a template now, unless it has been made; takes some minutes. Ctrl-C leaves nothing.",
            footer = {"", "Examples:", "  sudo ./cay template build code-interpreter-v1"})
    static final class Build implements Callable<Integer> {
        @Mixin
        private ConfigOptions options = new ConfigOptions();

        @Parameters(paramLabel = "NAME", description = "A name that `cay template list` shows.")
        private String name = "";

        @Override
        public Integer call() {
            var config = options.config();
            Root.require("template build", "to make files that belong to all users of a sandbox");
            var template = template(config, name);
            Progress progress = new ConsoleProgress(System.out, InstantSource.system());
            progress.step("making template " + name);
            List<String> layers = Interruptible.run(() -> template.build(BuildProgress.paced(progress)));
            progress.done(
                    "template %s, %s in %d layers".formatted(name, PoolCommand.size(template.size()), layers.size()));
            return 0;
        }
    }
}
