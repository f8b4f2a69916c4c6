package dev.cay.node.build;

import java.util.ArrayList;
import java.util.List;

/// Scripts that steps run inside a sandbox, other than the user's commands. They run as root, by the image's shell, and
/// get their values as arguments, never as text of the script.
final class Scripts {
    /// Makes a directory and those above it that are missing, all of one owner.
    private static final String MAKE_DIRECTORIES = """
            set -e
            umask 022
            make_directories() {
                [ -d "$1" ] && return 0
                make_directories "$(dirname "$1")"
                mkdir "$1"
                chown "$owner" "$1"
            }
            """;

    /// Arguments: path, owner.
    static final String WORKDIR = MAKE_DIRECTORIES + """
            owner=$2
            make_directories "$1"
            """;

    /// Arguments: name, and `true` to allow `sudo` without a password.
    static final String USER = """
            set -e
            if ! id -u "$1" >/dev/null 2>&1; then
                if command -v useradd >/dev/null 2>&1; then
                    useradd --create-home --shell /bin/bash "$1"
                else
                    adduser -D "$1"
                fi
            fi
            if [ "$2" = true ] && [ -d /etc/sudoers.d ]; then
                printf '%s ALL=(ALL:ALL) NOPASSWD: ALL\\n' "$1" > "/etc/sudoers.d/90-$1"
                chmod 0440 "/etc/sudoers.d/90-$1"
            fi
            """;

    /// Reads an archive and copies one path of it to its destination. Arguments: path in it, destination, owner,
    /// mode.
    ///
    /// A directory is merged into the destination: files replace what is there, also links; directories, and links
    /// that lead to one, stay.
    static final String COPY = MAKE_DIRECTORIES + """
            owner=$3
            stage=$(mktemp -d /tmp/.copy.XXXXXX)
            trap 'rm -rf "$stage"' EXIT
            tar -xpof - -C "$stage"
            from=$stage/$1
            from=${from%/}
            if [ ! -e "$from" ] && [ ! -L "$from" ]; then
                echo "'$1' is not among the files that were sent" >&2
                exit 1
            fi
            chown -hR "$owner" "$from"
            [ -z "$4" ] || chmod -R "$4" "$from"
            if [ -d "$from" ] && [ ! -L "$from" ]; then
                make_directories "$2"
                keep=
                case "$(tar --version 2>/dev/null)" in *GNU*) keep='--keep-directory-symlink --no-overwrite-dir' ;; esac
                tar -C "$from" -cf - . | tar -C "$2" -xpf - $keep
                exit 0
            fi
            case "$2" in
            */)
                make_directories "${2%/}"
                to=$2$(basename "$from")
                ;;
            *)
                if [ -d "$2" ]; then
                    to=$2/$(basename "$from")
                else
                    make_directories "$(dirname "$2")"
                    to=$2
                fi
                ;;
            esac
            [ ! -L "$to" ] || rm -f "$to"
            mv -f "$from" "$to"
            """;

    private Scripts() {}

    static List<String> command(String script, String... arguments) {
        var words = new ArrayList<>(List.of("/bin/sh", "-c", script, "sh"));
        words.addAll(List.of(arguments));
        return words;
    }
}
