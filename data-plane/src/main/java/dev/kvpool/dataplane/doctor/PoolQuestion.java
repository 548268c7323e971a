// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.http.AdminAnswer;
import dev.kvpool.dataplane.http.AdminCaller;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;

/** Asks masters by their admin HTTP which of them leads, and that one for its storage nodes. */
final class PoolQuestion {
    private static final Duration TIMEOUT = Duration.ofSeconds(3);
    private static final ObjectMapper JSON = new ObjectMapper();

    private final AdminCaller caller;

    PoolQuestion(AdminCaller caller) {
        this.caller = caller;
    }

    /** Empty when none of them leads a pool. */
    Optional<PoolMap> ask(List<HostPort> admins) {
        return admins.parallelStream()
                .map(this::document)
                .flatMap(Optional::stream)
                .map(PoolQuestion::read)
                .flatMap(Optional::stream)
                .findFirst();
    }

    /** Why one does not answer is found when its clock is asked for. */
    private Optional<String> document(HostPort admin) {
        try {
            AdminAnswer answer = caller.get(admin, "/api/v1/pool", TIMEOUT, TIMEOUT);
            return answer.isOk() ? Optional.of(answer.body()) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** Empty when it is no leader's. */
    static Optional<PoolMap> read(String document) {
        try {
            JsonNode pool = Objects.requireNonNull(JSON.readTree(document));
            if (!pool.path("role").asText().equals("leader")) {
                return Optional.empty();
            }
            List<StorageNode> nodes = new ArrayList<>();
            for (JsonNode node : pool.path("nodes")) {
                nodes.add(new StorageNode(
                        node.path("id").asText(),
                        Long.parseUnsignedLong(node.path("incarnation").asText("0"), 16),
                        node.path("state").asText(),
                        node.path("reason").asText(),
                        node.path("address").asText(),
                        node.path("sharedMemory").asText()));
            }
            return Optional.of(new PoolMap(UUID.fromString(pool.path("poolId").asText()), nodes));
        } catch (JsonProcessingException | IllegalArgumentException e) {
            return Optional.empty(); // whatever answers there, it is no master
        }
    }
}
