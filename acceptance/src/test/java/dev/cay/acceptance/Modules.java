package dev.cay.acceptance;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/// Which module a class belongs to, by the place of its class file. Package names follow modules only by convention,
/// and a list of packages would not have a new one.
final class Modules {
    /// A directory of classes or an archive below `kit/target/`, or an archive `cay-kit-1.0.jar` elsewhere.
    private static final Pattern PLACE = Pattern.compile("/([a-z]+)/target/|/cay-([a-z]+)-[^/]*\\.jar");

    private Modules() {}

    /// The name of the module's directory; empty for classes that are not of Cay.
    static Optional<String> of(JavaClass type) {
        if (!type.getPackageName().startsWith("dev.cay.")) {
            return Optional.empty();
        }
        // An array has no class file of its own.
        return type.getBaseComponentType().getSource().map(source -> {
            var place = PLACE.matcher(source.getUri().toString());
            if (!place.find()) {
                throw new IllegalStateException("%s is in no module: %s".formatted(type.getName(), source.getUri()));
            }
            return place.group(1) == null ? place.group(2) : place.group(1);
        });
    }

    static DescribedPredicate<JavaClass> in(String... modules) {
        var wanted = Set.of(modules);
        return DescribedPredicate.describe(
                "in the modules " + wanted,
                type -> of(type).filter(wanted::contains).isPresent());
    }
}
