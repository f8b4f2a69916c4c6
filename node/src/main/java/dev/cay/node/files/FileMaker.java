package dev.cay.node.files;

import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.DescriptorIo;
import dev.cay.node.linux.Errno;
import dev.cay.node.linux.ErrnoException;
import dev.cay.node.linux.FileCalls;
import dev.cay.node.linux.FileStatus;
import dev.cay.wire.CayException;
import dev.cay.wire.ErrorKind;
import java.io.IOException;

/// Makes files and directories for users, with their parent directories. Runs on a file thread.
///
/// @param root    of the sandbox
/// @param uidBase first host uid of the sandbox
record FileMaker(Descriptor root, int uidBase) {
    private static final int FILE_MODE = 0644;
    private static final int DIRECTORY_MODE = 0755;

    Descriptor openDirectory(SandboxPath path) throws ErrnoException {
        return FileCalls.openInRoot(root, path.text(), FileCalls.PATH | FileCalls.DIRECTORY, 0);
    }

    /// Opens a file for writing from its beginning, and gives it to the user.
    Descriptor openEmpty(SandboxPath path, Account user) throws IOException {
        int flags = FileCalls.WRITE | FileWork.OPEN_FLAGS;
        Descriptor fresh;
        try {
            fresh = FileCalls.openInRoot(root, path.text(), flags | FileCalls.CREATE | FileCalls.EXCLUSIVE, FILE_MODE);
        } catch (ErrnoException e) {
            if (e.errno() != Errno.EEXIST) {
                throw e;
            }
            return openOld(path, user);
        }
        return prepared(path, fresh, user, true);
    }

    /// Opens an existing file, first with O_PATH: opening a pipe or a device has effects.
    private Descriptor openOld(SandboxPath path, Account user) throws IOException {
        int flags = FileCalls.WRITE | FileWork.OPEN_FLAGS;
        Descriptor file;
        try (var named = FileCalls.openInRoot(root, path.text(), FileCalls.PATH, 0)) {
            FileWork.requireRegular(path.text(), FileCalls.stat(named));
            FileSystems.requireDisk(named);
            file = FileCalls.reopen(named, flags);
        } catch (ErrnoException e) {
            if (e.errno() != Errno.ENOENT) {
                throw e;
            }
            // A link that leads nowhere gets its target made.
            file = FileCalls.openInRoot(root, path.text(), flags | FileCalls.CREATE, FILE_MODE);
        }
        return prepared(path, file, user, false);
    }

    private Descriptor prepared(SandboxPath path, Descriptor file, Account user, boolean fresh) throws IOException {
        try {
            var status = FileCalls.stat(file);
            FileWork.requireRegular(path.text(), status);
            FileSystems.requireDisk(file);
            own(file, status, user);
            if (fresh) {
                // Whatever the daemon's umask is.
                FileCalls.setMode(file, FILE_MODE);
            } else {
                DescriptorIo.truncate(file, 0);
            }
            return file;
        } catch (IOException | RuntimeException e) {
            file.close();
            throw e;
        }
    }

    /// A new file in an open directory, under a name that is not taken.
    Descriptor create(Descriptor directory, String name, Account user) throws IOException {
        FileSystems.requireDisk(directory);
        var file = FileCalls.create(directory, name, FILE_MODE);
        return prepared(new SandboxPath("/" + name), file, user, true);
    }

    /// True if it was not there.
    boolean makeDirectory(SandboxPath path, Account user) throws IOException {
        try (var file = FileCalls.openInRoot(root, path.text(), FileCalls.PATH, 0)) {
            if (!FileCalls.stat(file).directory()) {
                throw new CayException(
                        ErrorKind.INVALID_ARGUMENT, "path already exists but it is not a directory: " + path);
            }
            return false;
        } catch (ErrnoException e) {
            if (e.errno() != Errno.ENOENT) {
                throw e;
            }
        }
        makeParents(path.child("x"), user);
        openDirectory(path).close();
        return true;
    }

    void makeParents(SandboxPath path, Account user) throws IOException {
        try {
            openDirectory(path.parent()).close();
            return;
        } catch (ErrnoException e) {
            if (e.errno() != Errno.ENOENT) {
                throw e;
            }
        }
        var at = new SandboxPath("/");
        for (String part : path.parent().parts()) {
            try (var parent = openDirectory(at)) {
                make(parent, part, user);
            }
            at = at.child(part);
        }
    }

    private void make(Descriptor parent, String name, Account user) throws IOException {
        try {
            FileSystems.requireDisk(parent);
            FileCalls.makeDirectory(parent, name, DIRECTORY_MODE);
        } catch (ErrnoException e) {
            if (e.errno() != Errno.EEXIST && e.errno() != Errno.EROFS) {
                throw e;
            }
            return;
        }
        // Without entering mounts: the owner of a file system that was mounted there since must not change.
        try (var made = FileCalls.openEntry(parent, name, FileCalls.DIRECTORY, false)) {
            own(made, FileCalls.stat(made), user);
            FileCalls.setMode(made, DIRECTORY_MODE);
        }
    }

    private void own(Descriptor file, FileStatus status, Account user) throws ErrnoException {
        int uid = uidBase + user.uid();
        int gid = uidBase + user.gid();
        if (status.uid() != uid || status.gid() != gid) {
            FileCalls.setOwner(file, uid, gid);
        }
    }
}
