package dev.cay.server.metrics;

import java.util.ArrayList;
import java.util.List;

/// Reduces the number of points of long series.
final class Downsampling {
    private static final long HOUR = 3600;

    private Downsampling() {}

    /// One row for each interval, with the maximum of each column, because users look for peaks. Series shorter than an
    /// hour stay as they are.
    static List<long[]> highest(List<long[]> rows) {
        if (rows.isEmpty()) {
            return rows;
        }
        long step = step(rows.getLast()[0] - rows.getFirst()[0]);
        if (step == 0) {
            return rows;
        }
        var thinned = new ArrayList<long[]>();
        for (long[] row : rows) {
            long stretch = row[0] / step;
            if (thinned.isEmpty() || thinned.getLast()[0] / step != stretch) {
                thinned.add(row.clone());
                continue;
            }
            long[] last = thinned.getLast();
            for (int i = 0; i < row.length; i++) {
                last[i] = Math.max(last[i], row[i]);
            }
        }
        return thinned;
    }

    /// Seconds; at most some hundreds of rows come out.
    private static long step(long span) {
        if (span <= HOUR) {
            return 0;
        }
        if (span <= 6 * HOUR) {
            return 30;
        }
        if (span <= 12 * HOUR) {
            return 60;
        }
        return span <= 25 * HOUR ? 120 : 900;
    }
}
