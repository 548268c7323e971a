// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.machine;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Tries ports before the processes that are to listen on them start. */
public final class PortProbe {
    /** The children of a local that was just killed need a moment to notice. */
    public static final Duration PATIENCE = Duration.ofSeconds(3);

    private static final Duration PAUSE = Duration.ofMillis(100);
    private static final int BACKLOG = 1;

    private PortProbe() {}

    /** A sentence for each port that is still taken after this time. */
    public static List<String> problems(String host, Map<Integer, List<String>> ports, Duration patience)
            throws InterruptedException {
        List<String> problems = probe(host, ports);
        for (Duration waited = Duration.ZERO;
                !problems.isEmpty() && waited.compareTo(patience) < 0;
                waited = waited.plus(PAUSE)) {
            Thread.sleep(PAUSE);
            problems = probe(host, ports);
        }
        return problems;
    }

    /** A sentence for each port that is taken now. */
    public static List<String> probe(String host, Map<Integer, List<String>> ports) {
        List<String> problems = new ArrayList<>();
        ports.forEach((port, users) -> {
            try (ServerSocket socket = new ServerSocket(port, BACKLOG, InetAddress.getByName(host))) {
                socket.getLocalPort(); // bound, so it was free
            } catch (IOException e) {
                problems.add("cannot listen on " + host + " port " + port + " for " + users.getFirst() + ": "
                        + e.getMessage());
            }
        });
        return problems;
    }
}
