// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.why;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;
import java.util.Objects;

/**
 * What the leader says of a key at {@code GET /api/v1/key}.
 *
 * @param key the key
 * @param master the leader's name
 * @param state {@code readable}, {@code unavailable}, {@code being-put} or {@code absent}
 * @param cause why it is not readable; null when it is, or is being put
 * @param goneSince since when it has been gone, RFC 3339; null when it is not, or the leader does not know
 * @param value the value, also where it cannot be read
 * @param unheard storage nodes that have not told this leader what they hold
 * @param allRemovedAt when everything was removed at once under this leader; null when it was not
 * @param remembersSince from when on this leader remembers every removal and eviction
 */
@JsonIgnoreProperties(ignoreUnknown = true)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record KeyAnswer(
        String key,
        String master,
        String state,
        String cause,
        String goneSince,
        @JsonUnwrapped Value value,
        List<String> unheard,
        String allRemovedAt,
        String remembersSince) {
    /**
     * A value.
     *
     * @param bytes its length; null when there is none
     * @param leased whether a reader has a promise that it stays; null when there is none
     * @param replicas where it lies, also on nodes that are away
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    @JsonInclude(JsonInclude.Include.NON_NULL)
    public record Value(Long bytes, Boolean leased, List<Replica> replicas) {
        public Value {
            replicas = replicas == null ? List.of() : List.copyOf(replicas);
        }
    }

    /**
     * A replica.
     *
     * @param medium {@code memory} or {@code ssd}
     * @param reachable whether readers may be sent to the node
     * @param behind whether the node has missed removals and has not caught up
     * @param draining whether the node is being emptied
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Replica(String node, String medium, boolean reachable, boolean behind, boolean draining) {}

    public KeyAnswer {
        unheard = unheard == null ? List.of() : List.copyOf(unheard);
        cause = Objects.requireNonNullElse(cause, "");
    }
}
