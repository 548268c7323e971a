// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.StructLayout;
import java.util.Map;
import java.util.Set;
import java.util.function.ToDoubleFunction;

/**
 * The numbers of a node or an agent at one moment, each by its name in {@code kv_node_stats} or {@code kv_agent_stats}, where kvpool.h and
 * agent.h say what it is. Counters start at 0 with each life of the process.
 */
public record NativeStats(Map<String, Long> values) {
    public NativeStats {
        values = Map.copyOf(values);
    }

    /** Reads a number of nodes; a name that there is not is refused at once. */
    public static ToDoubleFunction<NativeStats> node(String name) {
        return reader(Layouts.NODE_STATS, name);
    }

    /** Reads a number of agents. */
    public static ToDoubleFunction<NativeStats> agent(String name) {
        return reader(Layouts.AGENT_STATS, name);
    }

    private static ToDoubleFunction<NativeStats> reader(StructLayout layout, String name) {
        layout.byteOffset(PathElement.groupElement(name)); // throws
        return stats -> stats.get(name);
    }

    public long get(String name) {
        Long value = values.get(name);
        if (value == null) {
            throw new IllegalArgumentException("there is no number " + name);
        }
        return value;
    }

    /** Whether a number that stands for yes or no says yes. */
    public boolean is(String name) {
        return get(name) != 0;
    }

    /** The protocols that a node serves. */
    public Set<Protocol> protocols() {
        return Protocol.of((int) get("protocols"));
    }
}
