// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.plan;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * How clients name a storage node: by its id, by the HOST:PORT at which it serves them, or, as engines name the memory of a process,
 * by the HOST:PORT that its id begins with.
 */
public final class NodeName {
    /** Of the node ids that embedded storage nodes give themselves: {@code HOST:PORT-0123abcd}. */
    private static final Pattern RANDOM_END = Pattern.compile("-[0-9a-f]{8}");

    private NodeName() {}

    /** A node that can be named. */
    public interface Named {
        String id();

        /** HOST:PORT where it serves clients, empty while that is not known. */
        default String address() {
            return "";
        }
    }

    /** The names in a text that has commas between them. */
    public static List<String> list(String text) {
        return text.isEmpty()
                ? List.of()
                : Stream.of(text.split(",")).filter(name -> !name.isEmpty()).toList();
    }

    /** The node that is meant, null when none is. An id goes before all else. */
    public static <N extends Named> N find(Iterable<N> nodes, String name) {
        if (name.isEmpty()) {
            return null;
        }
        N other = null;
        for (N node : nodes) {
            if (node.id().equals(name)) {
                return node;
            }
            if (node.address().equals(name) || isIdWithRandomEnd(node.id(), name)) {
                other = node;
            }
        }
        return other;
    }

    private static boolean isIdWithRandomEnd(String id, String name) {
        return id.startsWith(name)
                && RANDOM_END.matcher(id).region(name.length(), id.length()).matches();
    }
}
