// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.local;

import dev.kvpool.dataplane.machine.PortProbe;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;

/** Ports nobody listens on at the moment; below the range from which the kernel takes ports of clients. */
final class FreePorts {
    private static final int LOWEST = 10_000;
    private static final int HIGHEST = 30_000;
    private static final int ATTEMPTS = 100;

    private FreePorts() {}

    /** The first of so many free ports in a row. */
    static int inARow(int count) throws InterruptedException {
        for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
            int first = ThreadLocalRandom.current().nextInt(LOWEST, HIGHEST);
            TreeMap<Integer, List<String>> ports = new TreeMap<>();
            IntStream.range(0, count).forEach(k -> ports.put(first + k, new ArrayList<>(List.of("test"))));
            if (PortProbe.probe("127.0.0.1", ports).isEmpty()) {
                return first;
            }
        }
        throw new IllegalStateException("found no " + count + " free ports in a row in " + ATTEMPTS + " attempts");
    }
}
