package dev.cay.wire;

/// The kind of a failure, for programs. REST and Connect each map a kind to a code of their own in one place.
public enum ErrorKind {
    /// The request is malformed or names an impossible value; the message names the field and the fix.
    INVALID_ARGUMENT,
    /// No credential, or an unknown one.
    UNAUTHENTICATED,
    /// The caller is known but lacks the permission.
    PERMISSION_DENIED,
    /// The thing does not exist, or belongs to another caller.
    NOT_FOUND,
    /// The thing exists already.
    ALREADY_EXISTS,
    /// The thing is in a state that does not allow this now.
    CONFLICT,
    /// A limit of the caller is reached; a later retry may work.
    EXHAUSTED,
    /// The machine cannot do it now; nothing was changed.
    UNAVAILABLE,
    /// The sandbox's disk is full.
    DISK_FULL,
    /// The operation took longer than the caller allowed.
    DEADLINE_EXCEEDED,
    /// The caller disconnected.
    CANCELED,
    /// Part of the contract that Cay does not serve yet.
    NOT_IMPLEMENTED,
    /// The state of the sandbox does not allow it, like input for a process that takes none; the message says why. The
    /// RPC has no better code for it than `internal`.
    FAILED,
    /// Refused for a reason that the RPC has no code for; its clients read `unknown`.
    UNKNOWN,
    /// A process in the sandbox cannot be saved, so its memory cannot be kept; the message names it. The sandbox
    /// continues.
    NOT_SAVED,
    /// Saved memory cannot be restored here; it is kept, and the sandbox can start from its files.
    NOT_RESTORED,
    /// A bug of Cay.
    INTERNAL
}
