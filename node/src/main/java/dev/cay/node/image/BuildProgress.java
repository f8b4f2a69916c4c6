package dev.cay.node.image;

/// Hears how far a build is.
public interface BuildProgress {
    /// @param step     what is being done, the same words until it is done
    /// @param detail   what changes while it is: a package, a size
    /// @param fraction how much of the whole is done, 0 to 1
    void at(String step, String detail, double fraction);
}
