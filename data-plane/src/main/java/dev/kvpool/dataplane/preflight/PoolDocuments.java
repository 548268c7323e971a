// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.preflight;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.kvpool.dataplane.cli.FailureException;
import dev.kvpool.dataplane.preflight.Running.Kind;
import dev.kvpool.dataplane.preflight.Running.Member;
import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.nativelib.VersionRange;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What masters say at {@code /api/v1/pool}, put together. All masters must agree on the pool, and one of them must lead. */
final class PoolDocuments {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int VERSION_MAX = 0xffff;

    private final Map<String, Member> members = new LinkedHashMap<>();
    private String poolId = "";
    private ActiveVersions active = ActiveVersions.UNKNOWN;
    private boolean led;

    /**
     * Adds one master's answer.
     *
     * @param from where it came from, for the message
     * @throws FailureException when it is no such answer, or another pool's
     */
    void add(String from, String text) throws FailureException {
        JsonNode pool = parse(from, text);
        String id = pool.path("poolId").asText();
        if (!poolId.isEmpty() && !poolId.equals(id)) {
            throw new FailureException("the masters are of different pools: " + from + " says " + id
                    + ", one before said " + poolId + "; give the masters of one pool");
        }
        poolId = id;
        led |= "leader".equals(pool.path("role").asText())
                && "serving".equals(pool.path("state").asText());
        active = active.or(active(from, pool));
        member(from, Kind.MASTER, "master " + pool.path("name").asText(), pool.path("version"), ActiveVersions.UNKNOWN);
        for (JsonNode node : pool.path("nodes")) {
            if (node.has("version")) {
                member(from, Kind.NODE, "node " + node.path("id").asText(), node.path("version"), active(from, node));
            }
        }
        for (JsonNode clients : pool.path("clientVersions")) {
            String name = "client " + clients.path("example").asText()
                    + others(clients.path("count").asInt());
            member(from, Kind.CLIENT, name, clients, ActiveVersions.UNKNOWN);
        }
    }

    Running running() throws FailureException {
        if (!led) {
            throw new FailureException(
                    "no master that was asked leads and serves, so none knows all nodes and clients; try again");
        }
        return new Running(active, List.copyOf(new ArrayList<>(members.values())));
    }

    private static JsonNode parse(String from, String text) throws FailureException {
        try {
            JsonNode pool = JSON.readTree(text);
            if (pool.path("poolId").asText().isEmpty()
                    || pool.path("name").asText().isEmpty()) {
                throw new FailureException(from + " did not answer as a master of kvpool; check the addresses");
            }
            return pool;
        } catch (JacksonException e) {
            throw new FailureException(from + " answered with something else than JSON: " + e.getOriginalMessage());
        }
    }

    private void member(String from, Kind kind, String name, JsonNode told, ActiveVersions writes)
            throws FailureException {
        Versions versions = new Versions(
                told.path("product").asText(),
                range(from, name, told.path("wire")),
                range(from, name, told.path("layout")),
                range(from, name, told.path("abi")));
        members.put(name + " " + versions.text(), new Member(kind, name, versions, writes));
    }

    /** What is spoken and written there; masters that do not say so yet know of one number only. */
    private static ActiveVersions active(String from, JsonNode told) throws FailureException {
        JsonNode numbers = told.path("active");
        int wire = numbers.path("wire").asInt(0);
        int layout = numbers.path("layout").asInt(0);
        if (Math.min(wire, layout) < 0 || Math.max(wire, layout) > VERSION_MAX) {
            throw new FailureException(from + " tells active versions that are none: " + numbers);
        }
        return new ActiveVersions(wire, layout);
    }

    private static VersionRange range(String from, String name, JsonNode told) throws FailureException {
        int min = told.path("min").asInt(-1);
        int max = told.path("max").asInt(-1);
        if (min < 0 || max < min || max > VERSION_MAX) {
            throw new FailureException(from + " tells no versions of " + name
                    + ": it is older than this check, or no master; upgrade by hand, with the pool empty");
        }
        return new VersionRange(min, max);
    }

    private static String others(int count) {
        return count > 1 ? " and " + (count - 1) + " others" : "";
    }
}
