package dev.cay.node.files;

import dev.cay.node.linux.Descriptor;
import dev.cay.node.linux.DescriptorIo;
import dev.cay.node.linux.FileCalls;
import java.io.IOException;
import java.io.OutputStream;

/// A regular file that is being written from its start. Written bytes stay when it is closed early.
public final class NewFile extends OutputStream {
    private final FileWork work;
    private final SandboxPath path;
    private final Descriptor descriptor;
    private final Account owner;
    private long position;

    NewFile(FileWork work, SandboxPath path, Descriptor descriptor, Account owner) {
        this.work = work;
        this.path = path;
        this.descriptor = descriptor;
        this.owner = owner;
    }

    public SandboxPath path() {
        return path;
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        work.run(path, owner, () -> {
            for (int done = 0; done < length; ) {
                int most = Math.min(OpenFile.CHUNK, length - done);
                int count = DescriptorIo.pwrite(descriptor, bytes, offset + done, most, position);
                done += count;
                position += count;
            }
            return null;
        });
    }

    /// Permissions other than those every new file gets.
    public void setMode(int mode) throws IOException {
        work.run(path, owner, () -> {
            FileCalls.setMode(descriptor, mode);
            return null;
        });
    }

    @Override
    public void close() {
        descriptor.close();
    }
}
