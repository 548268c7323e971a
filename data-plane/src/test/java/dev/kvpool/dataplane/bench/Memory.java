// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;

/** What this process takes of the machine. */
final class Memory {
    private Memory() {}

    /** Bytes of live objects on the heap. */
    static long live() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    static long resident() {
        try {
            for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
                if (line.startsWith("VmRSS:")) {
                    return Long.parseLong(line.replaceAll("\\D", "")) << 10;
                }
            }
            throw new IllegalStateException("/proc/self/status has no VmRSS");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static String collections() {
        StringBuilder text = new StringBuilder();
        for (GarbageCollectorMXBean bean : ManagementFactory.getGarbageCollectorMXBeans()) {
            text.append(text.isEmpty() ? "" : ", ")
                    .append("%s %d in %d ms"
                            .formatted(bean.getName(), bean.getCollectionCount(), bean.getCollectionTime()));
        }
        return text.toString();
    }
}
