// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.storage;

import dev.kvpool.operator.pool.child.part.HostDirectory;
import dev.kvpool.operator.pool.naming.PoolNames;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * A directory of a Kubernetes node in which one storage node keeps its segment, or its SSD.
 *
 * @param set name of the storage set
 * @param node name of the Kubernetes node
 * @param path absolute
 */
public record NodeDirectory(String set, String node, String path) {
    static final Comparator<NodeDirectory> ORDER =
            Comparator.comparing(NodeDirectory::id).thenComparing(NodeDirectory::path);

    /** Sets have no dot in their names. */
    private static final Pattern ID = Pattern.compile("(?<set>[a-z0-9-]+)[.](?<node>[a-z0-9.-]+)");

    private static final Pattern PATH = Pattern.compile("(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+");
    private static final Pattern POOL_ID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    /** No path has it. */
    private static final String BETWEEN = ",";

    /** Stands behind the paths of a storage node that was let go. It is no path, so that an operator that does not know it leaves it aside. */
    private static final String RELEASED = "released";

    /**
     * What was written down for a storage node, trusted no further than this: a Job removes as root what only this pool can have
     * made.
     *
     * @param id of the storage node
     */
    public static List<NodeDirectory> written(String id, String paths, String poolId) {
        return of(id, Arrays.asList(paths.split(BETWEEN, -1)), poolId);
    }

    /** Those of a storage node that this pool can have made. */
    static List<NodeDirectory> of(String id, List<String> paths, String poolId) {
        var parts = ID.matcher(id);
        if (!parts.matches() || !POOL_ID.matcher(poolId).matches()) {
            return List.of();
        }
        String set = parts.group("set");
        String node = parts.group("node");
        Set<String> names = HostDirectory.names(set, poolId);
        return paths.stream()
                .distinct()
                .filter(path -> PATH.matcher(path).matches())
                .filter(path -> names.contains(path.substring(path.lastIndexOf('/') + 1)))
                .map(path -> new NodeDirectory(set, node, path))
                .toList();
    }

    /** Whether the storage node that they are of was let go. */
    static boolean areReleased(String paths) {
        return Arrays.asList(paths.split(BETWEEN, -1)).contains(RELEASED);
    }

    /** As they are written down, by id of the storage node. */
    public static SortedMap<String, String> list(Collection<NodeDirectory> directories) {
        return list(directories, Set.of());
    }

    /**
     * The same.
     *
     * @param released ids of storage nodes that were let go
     */
    public static SortedMap<String, String> list(Collection<NodeDirectory> directories, Set<String> released) {
        SortedMap<String, String> list = new TreeMap<>();
        directories.stream()
                .sorted(ORDER)
                .forEach(directory ->
                        list.merge(directory.id(), directory.path(), (before, path) -> before + BETWEEN + path));
        released.forEach(id -> list.computeIfPresent(id, (known, paths) -> paths + BETWEEN + RELEASED));
        return list;
    }

    /** Id of the storage node. */
    public String id() {
        return PoolNames.perNodeId(set, node);
    }

    /** Name of the Job that removes it: a digest, since names of nodes are longer than a Job's may be. */
    public String jobName(PoolNames names) {
        // The pool's identity is in the path.
        byte[] identity = (node + path).getBytes(StandardCharsets.UTF_8);
        return names.cleaning(UUID.nameUUIDFromBytes(identity).toString().substring(0, 8));
    }
}
