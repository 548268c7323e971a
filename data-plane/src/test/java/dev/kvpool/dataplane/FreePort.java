// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Ports for processes that are told theirs. They lie below those that Linux gives to connections (32768 and up), which may take one that was free a
 * moment ago, and none is given twice.
 */
public final class FreePort {
    /** Tests run in as many processes at most ({@code forkCount}), each with ports of its own. */
    private static final int PROCESSES = 2;

    private static final int COUNT = 10_000 / PROCESSES;
    private static final int FIRST =
            20_000 + COUNT * Math.floorMod(Integer.getInteger("surefire.forkNumber", 0), PROCESSES);
    private static final AtomicInteger NEXT =
            new AtomicInteger(ThreadLocalRandom.current().nextInt(COUNT));

    private FreePort() {}

    /** One at which nothing listens on the loopback interface. */
    public static int next() {
        for (int tries = 0; tries < COUNT; tries++) {
            int port = FIRST + Math.floorMod(NEXT.getAndIncrement(), COUNT);
            try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
                return socket.getLocalPort();
            } catch (IOException taken) {
                // the next one
            }
        }
        throw new IllegalStateException("no port from %d on is free".formatted(FIRST));
    }
}
