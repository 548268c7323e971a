// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.file;

import java.io.IOException;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** Looks at a file once a second, on a thread of its own, since reading it may block. */
public final class FileWatch {
    private static final long PERIOD_MS = 1_000;

    /** One look at the file. */
    public interface Look {
        /** Applies what has changed; the message of the exception names the problem. */
        void look() throws IOException;
    }

    private FileWatch() {}

    /**
     * Begins to look.
     *
     * @param problem told what the first look finds and whatever is another problem than at the look before; an empty text is none
     * @param ended whether to stop
     */
    public static void start(String name, Look look, Consumer<String> problem, BooleanSupplier ended) {
        Thread.ofVirtual().name(name).start(() -> {
            String told = null;
            while (!ended.getAsBoolean()) {
                try {
                    Thread.sleep(PERIOD_MS);
                } catch (InterruptedException e) {
                    return;
                }
                String now = problemOf(look);
                if (!now.equals(told)) {
                    told = now;
                    problem.accept(now);
                }
            }
        });
    }

    private static String problemOf(Look look) {
        try {
            look.look();
            return "";
        } catch (IOException | RuntimeException e) {
            return e.getMessage() == null ? e.toString() : e.getMessage();
        }
    }
}
