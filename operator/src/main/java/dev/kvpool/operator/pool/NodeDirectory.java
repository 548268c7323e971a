// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool;

import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;

/**
 * The directory of a node of the cluster in which the segment of one storage node lies.
 *
 * @param set name of the storage set
 * @param node name of the node of the cluster
 * @param path absolute
 */
public record NodeDirectory(String set, String node, String path) {
    /** Sets have no dot in their names. */
    private static final Pattern ID = Pattern.compile("(?<set>[a-z0-9-]+)[.](?<node>[a-z0-9.-]+)");

    private static final Pattern PATH = Pattern.compile("(/[A-Za-z0-9_-][A-Za-z0-9._-]*)+");
    private static final Pattern POOL_ID = Pattern.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    /**
     * What was written down, trusted no further than this: a Job removes as root what only this pool can have made.
     *
     * @param id of the storage node
     * @return empty when the pool cannot have made it
     */
    public static Optional<NodeDirectory> written(String id, String path, String poolId) {
        var parts = ID.matcher(id);
        boolean ours = parts.matches()
                && POOL_ID.matcher(poolId).matches()
                && PATH.matcher(path).matches()
                && path.endsWith("/%s.%s".formatted(poolId, parts.group("set")));
        return ours ? Optional.of(new NodeDirectory(parts.group("set"), parts.group("node"), path)) : Optional.empty();
    }

    /** Id of the storage node. */
    public String id() {
        return PoolNames.perNodeId(set, node);
    }

    /** Name of the Job that removes it: a digest, since names of nodes are longer than a Job's may be. */
    public String jobName(PoolNames names, String poolId) {
        byte[] identity = (poolId + "/" + id()).getBytes(StandardCharsets.UTF_8);
        return names.cleaning(UUID.nameUUIDFromBytes(identity).toString().substring(0, 8));
    }
}
