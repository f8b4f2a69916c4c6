package dev.cay.runner;

import java.io.InputStream;

/// `System.in` of cells: at its end, also for those after one that closed it.
final class NoInput extends InputStream {
    @Override
    public int read() {
        return -1;
    }
}
