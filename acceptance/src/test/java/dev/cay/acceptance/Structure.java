package dev.cay.acceptance;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaField;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/// How classes hang together: which of one package need each other in a circle, and which hold many others.
///
/// A class stands for all that are nested in it. Classes that are generated are left out.
final class Structure {
    /// A class that holds more others than this is hard to understand and to test by itself.
    static final int MOST_COLLABORATORS = 10;

    private final JavaClasses classes;

    Structure(JavaClasses classes) {
        this.classes = classes;
    }

    /// Each circle as one line, like `dev.cay.http: Exchange Handler`: classes of one package each of which needs all
    /// others of the circle, if only by way of others.
    SortedSet<String> circles() {
        var needs = needs();
        var circles = new TreeSet<String>();
        for (String type : needs.keySet()) {
            var circle = reachable(type, needs).stream()
                    .filter(other -> reachable(other, needs).contains(type))
                    .collect(Collectors.toCollection(TreeSet::new));
            if (circle.size() > 1) {
                circles.add(packageOf(type) + ": "
                        + circle.stream().map(Structure::simpleName).collect(Collectors.joining(" ")));
            }
        }
        return circles;
    }

    /// Classes with more than {@link #MOST_COLLABORATORS} collaborators, each with its collaborators.
    ///
    /// A collaborator is another class of ours, not of `dev.cay.wire`, that is named in the type of a field: as the
    /// type itself, as its component, or as an argument like `Keeper` in `Map<SandboxId, Keeper>`.
    SortedMap<String, SortedSet<String>> crowded() {
        var all = new TreeMap<String, SortedSet<String>>();
        for (var type : classes) {
            if (isOurs(type)) {
                all.computeIfAbsent(outermost(type).getName(), _ -> new TreeSet<>())
                        .addAll(collaborators(type));
            }
        }
        all.values().removeIf(collaborators -> collaborators.size() <= MOST_COLLABORATORS);
        return all;
    }

    /// Top-level classes of one module that have the same name without its package. Each name is one line, like
    /// `node Challenge: dev.cay.node.a.Challenge dev.cay.node.b.Challenge`.
    SortedSet<String> namesThatStandTwice() {
        var types = new TreeMap<String, SortedSet<String>>();
        for (var type : classes) {
            if (isOurs(type)
                    && type.getEnclosingClass().isEmpty()
                    && !type.getSimpleName().equals("package-info")) {
                String name = Modules.of(type).orElseThrow() + " " + type.getSimpleName();
                types.computeIfAbsent(name, _ -> new TreeSet<>()).add(type.getName());
            }
        }
        return types.entrySet().stream()
                .filter(entry -> entry.getValue().size() > 1)
                .map(entry -> entry.getKey() + ": " + String.join(" ", entry.getValue()))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static SortedSet<String> collaborators(JavaClass type) {
        return type.getFields().stream()
                .map(JavaField::getType)
                .flatMap(named -> named.getAllInvolvedRawTypes().stream())
                .map(JavaClass::getBaseComponentType)
                .map(Structure::outermost)
                .filter(other -> other.getPackageName().startsWith("dev.cay."))
                .filter(other -> !(other.getPackageName() + ".").startsWith("dev.cay.wire."))
                .filter(other -> !other.equals(outermost(type)))
                .map(JavaClass::getName)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /// Whom each class needs of its own package.
    private Map<String, Set<String>> needs() {
        var needs = new HashMap<String, Set<String>>();
        for (var type : classes) {
            if (!isOurs(type)) {
                continue;
            }
            String name = outermost(type).getName();
            type.getDirectDependenciesFromSelf().stream()
                    .map(Dependency::getTargetClass)
                    .map(JavaClass::getBaseComponentType)
                    .filter(other -> other.getPackageName().equals(type.getPackageName()))
                    .map(other -> outermost(other).getName())
                    .filter(other -> !other.equals(name))
                    .forEach(other ->
                            needs.computeIfAbsent(name, _ -> new TreeSet<>()).add(other));
        }
        return needs;
    }

    private static Set<String> reachable(String from, Map<String, Set<String>> needs) {
        var reached = new TreeSet<String>();
        Deque<String> todo = new ArrayDeque<>(List.of(from));
        while (!todo.isEmpty()) {
            for (String next : needs.getOrDefault(todo.removeFirst(), Set.of())) {
                if (reached.add(next)) {
                    todo.addLast(next);
                }
            }
        }
        return reached;
    }

    private static boolean isOurs(JavaClass type) {
        return type.getPackageName().startsWith("dev.cay.")
                && !type.getPackageName().matches("dev\\.cay\\.wire\\.(process|filesystem)(\\..*)?");
    }

    private static JavaClass outermost(JavaClass type) {
        return type.getEnclosingClass().map(Structure::outermost).orElse(type);
    }

    private static String packageOf(String type) {
        return type.substring(0, type.lastIndexOf('.'));
    }

    private static String simpleName(String type) {
        return type.substring(type.lastIndexOf('.') + 1);
    }
}
