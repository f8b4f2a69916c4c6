package dev.cay.wire;

/// What kind of failure it is, for machines. Each face (REST, Connect) maps a kind to its own code in one place.
public enum ErrorKind {
    /// The request is malformed or names an impossible value; the message names the field and the fix.
    INVALID_ARGUMENT,
    /// No credential, or one we do not know.
    UNAUTHENTICATED,
    /// A known caller who may not do this.
    PERMISSION_DENIED,
    /// The thing does not exist, or is not this caller's.
    NOT_FOUND,
    /// The thing is there already.
    ALREADY_EXISTS,
    /// The thing is in a state that does not allow this now.
    CONFLICT,
    /// A limit of the caller is reached; later it may work.
    EXHAUSTED,
    /// The machine cannot do it now; nothing was changed.
    UNAVAILABLE,
    /// The sandbox's disk is full.
    DISK_FULL,
    /// It took longer than the caller allowed.
    DEADLINE_EXCEEDED,
    /// The caller went away.
    CANCELED,
    /// Part of the contract that Cay does not serve yet.
    NOT_IMPLEMENTED,
    /// What is in the sandbox does not allow it, like input for a process that takes none; the message says
    /// why. The RPC has no better code for it than `internal`.
    FAILED,
    /// Refused for a reason that the RPC has no code for; its clients read `unknown`.
    UNKNOWN,
    /// Something that runs in the sandbox cannot be saved, so its memory cannot be kept; the message names it. The
    /// sandbox goes on.
    NOT_SAVED,
    /// Saved memory cannot be brought back here; it is kept, and the files can be had without it.
    NOT_RESTORED,
    /// Our fault.
    INTERNAL
}
