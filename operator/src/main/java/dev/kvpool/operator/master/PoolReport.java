// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.master;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What a master says about its pool at {@code GET /api/v1/pool}. Fields this version does not know are ignored, missing
 * ones are empty or 0.
 *
 * @param master which master says so, and how far it leads
 * @param totals what the pool holds
 * @param nodes the storage nodes the master knows
 * @param builds what its processes are and speak
 * @param cacheRules the rules of the cache it goes by; null when its version reads them only at its start
 * @param index how full its index is; null when it does not say
 * @param register who missed removals, and who knows which; null when it does not say
 * @param trust what certificates hang on; null where it takes no tokens
 */
@JsonIgnoreProperties(ignoreUnknown = true)
public record PoolReport(
        @JsonUnwrapped Master master,
        @JsonUnwrapped Totals totals,
        List<Node> nodes,
        @JsonUnwrapped Builds builds,
        CacheRules cacheRules,
        Index index,
        Register register,
        Trust trust) {

    public PoolReport {
        nodes = nodes == null ? List.of() : List.copyOf(nodes);
        register = register == null ? new Register(false, Map.of(), List.of()) : register;
    }

    /** The master's name, which is its pod's. */
    public String name() {
        return master.name();
    }

    public String state() {
        return master.state();
    }

    /** The highest epoch the master knows. */
    public long epoch() {
        return master.epoch();
    }

    /** True when this master leads, whether it serves already or not. */
    public boolean holdsTheLease() {
        return master.holdsTheLease();
    }

    /** True when this master leads and serves. */
    public boolean leads() {
        return master.leads();
    }

    /** The master's version; null when it did not say. */
    public Version version() {
        return builds.version();
    }

    /** Why the master refuses puts for want of room in its index; empty when it does not. */
    public String indexProblem() {
        return index == null || index.problem == null ? "" : index.problem;
    }

    /**
     * A master.
     *
     * @param poolId identity of the pool
     * @param name its name, which is its pod's
     * @param role {@code leader} or {@code standby}
     * @param state {@code serving}, {@code recovering}, {@code standby} or {@code starting}
     * @param epoch highest epoch it knows
     * @param takeover how it came to lead; null on a standby, and where it does not say
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Master(String poolId, String name, String role, String state, long epoch, Takeover takeover) {
        private static final String LEADER = "leader";
        private static final String SERVING = "serving";
        private static final String RECOVERING = "recovering";

        /** True when it leads, whether it serves already or not. */
        public boolean holdsTheLease() {
            return SERVING.equals(state) || RECOVERING.equals(state);
        }

        /** True when it leads and serves. */
        public boolean leads() {
            return LEADER.equals(role) && SERVING.equals(state);
        }
    }

    /**
     * What a pool holds.
     *
     * @param capacityBytes bytes all known storage nodes can hold
     * @param sharedCapacityBytes those of storage nodes that are ready: without memory of engines, which holds their tenants' objects only
     * @param usedBytes bytes in use
     * @param objects objects in the pool
     * @param unavailableObjects those of them whose nodes are all away; 0 on a standby
     * @param underReplicatedObjects those with fewer copies on ready nodes than they should have, unavailable ones included; 0 on a
     *     standby
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Totals(
            long capacityBytes,
            long sharedCapacityBytes,
            long usedBytes,
            long objects,
            long unavailableObjects,
            long underReplicatedObjects) {}

    /**
     * What the processes of a pool are and speak.
     *
     * @param version the master's version; null when it did not say
     * @param active what the pool speaks and writes now; null when no node has told
     * @param clientVersions the builds of connected clients
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Builds(Version version, Active active, List<ClientVersion> clientVersions) {
        public Builds {
            clientVersions = clientVersions == null ? List.of() : List.copyOf(clientVersions);
        }
    }

    /**
     * What certificates hang on, as a master sees it.
     *
     * @param roots digest of the roots that it trusts
     * @param own its own certificate; null where it does not say
     * @param members what storage nodes and agents said of theirs
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Trust(String roots, Certificate own, List<TrustOfMember> members) {
        public Trust {
            roots = roots == null ? "" : roots;
            members = members == null ? List.of() : List.copyOf(members);
        }
    }

    /**
     * When a certificate is valid.
     *
     * @param notBefore as ISO 8601
     * @param notAfter as ISO 8601
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Certificate(String notBefore, String notAfter) {
        public Certificate {
            notBefore = notBefore == null ? "" : notBefore;
            notAfter = notAfter == null ? "" : notAfter;
        }
    }

    /**
     * What a storage node or an agent said.
     *
     * @param name role and name, as in its certificate
     * @param roots digest of what it trusts
     * @param authority fingerprint of what has signed its certificate
     * @param notAfter end of that certificate as ISO 8601; empty where it does not say
     * @param ageMs how long ago it said so
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record TrustOfMember(String name, String roots, String authority, String notAfter, long ageMs) {
        public TrustOfMember {
            name = name == null ? "" : name;
            roots = roots == null ? "" : roots;
            authority = authority == null ? "" : authority;
            notAfter = notAfter == null ? "" : notAfter;
        }
    }

    /**
     * What a master knows objects by.
     *
     * @param problem why it is full, and what helps; empty when it is not
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Index(String problem) {}

    /**
     * Which storage nodes missed removals, and which know what these were.
     *
     * @param awaitsWitness the leader knows it from none of them: what may have been removed is unavailable
     * @param behind by the node's id
     * @param witnesses ids of the nodes that know
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Register(boolean awaitsWitness, Map<String, Behind> behind, List<String> witnesses) {
        /** Enough for a sentence. */
        private static final int NAMED_MAX = 3;

        public Register {
            behind = behind == null ? Map.of() : Map.copyOf(behind);
            witnesses = witnesses == null ? List.of() : List.copyOf(witnesses);
        }

        /** Who is behind since when, as sentences with a blank before each; empty when no node is. */
        public String sentence() {
            Map<String, List<String>> since = behind.keySet().stream()
                    .sorted()
                    .limit(NAMED_MAX)
                    .collect(Collectors.groupingBy(id -> behind.get(id).since(), TreeMap::new, Collectors.toList()));
            StringBuilder sentences = new StringBuilder();
            since.forEach((at, nodes) -> sentences.append(" %s missed removals or replacements since %s at the latest."
                    .formatted(String.join(", ", nodes), at)));
            if (behind.size() > NAMED_MAX) {
                sentences.append(" So did %d more.".formatted(behind.size() - NAMED_MAX));
            }
            if (!behind.isEmpty()) {
                sentences.append(" Until %s caught up, what %s held before is checked or unavailable."
                        .formatted(behind.size() == 1 ? "it has" : "they have", behind.size() == 1 ? "it" : "they"));
            }
            return sentences.toString();
        }
    }

    /**
     * A node that was away while something was removed or replaced.
     *
     * @param since a time at which it was behind already, as people read it; by the leader's clock
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Behind(String since) {}

    /**
     * Which rules of the cache a master goes by.
     *
     * @param digest first 16 hexadecimal digits of the SHA-256 of the file they are from; empty when they are from its start
     * @param problem why what the file says now does not count; empty when it does
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record CacheRules(String digest, String problem) {
        public CacheRules {
            digest = digest == null ? "" : digest;
            problem = problem == null ? "" : problem;
        }
    }

    /**
     * How a leadership began.
     *
     * @param epoch its number
     * @param cause {@code first}, {@code died}, {@code released}, {@code expired}, {@code deleted} or {@code raised}
     * @param from the master that led before; may be empty
     * @param durationMs from when its successor learnt that no master led until it served
     * @param at when the Lease was taken; may be empty
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Takeover(long epoch, String cause, String from, long durationMs, String at) {
        public Takeover {
            cause = cause == null ? "" : cause;
            from = from == null ? "" : from;
            at = at == null ? "" : at;
        }
    }

    /**
     * What a build is and understands.
     *
     * @param product product version, for example 0.1.0
     * @param wire versions of the wire protocol; null when it did not say
     * @param layout layouts of segments; null when it did not say
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Version(String product, Range wire, Range layout) {
        public Version(String product) {
            this(product, null, null);
        }

        /** Both ranges are known. */
        public boolean isWhole() {
            return wire != null && layout != null;
        }
    }

    /** Versions, both ends included. */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Range(int min, int max) {}

    /**
     * What is spoken and written, whatever more is understood.
     *
     * @param wire version of the wire protocol
     * @param layout layout of segments
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Active(int wire, int layout) {}

    /**
     * Clients of one build.
     *
     * @param wire versions of the wire protocol; null when the master did not say
     * @param count how many there are
     * @param example name of one of them
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record ClientVersion(String product, Range wire, int count, String example) {}

    /**
     * The disk below the memory of a storage node.
     *
     * @param problem why it is off; empty while it is not
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Ssd(String problem) {}

    /**
     * A storage node as the master sees it.
     *
     * @param id node id, which is its pod's name unless it is transient
     * @param state {@code ready}, {@code syncing}, {@code away}, {@code refused} or {@code set_apart}
     * @param reason why it is in that state; may be empty
     * @param isTransient true for a node embedded in a client, which is never expected
     * @param contents what it holds
     * @param life what is known of this life of its process
     * @param build what it is and speaks
     * @param ssd the disk below its memory; null when it has none
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Node(
            String id,
            String state,
            String reason,
            @JsonProperty("transient") boolean isTransient,
            @JsonUnwrapped Contents contents,
            @JsonUnwrapped Life life,
            @JsonUnwrapped Build build,
            Ssd ssd) {

        private static final String READY = "ready";
        private static final String SYNCING = "syncing";
        private static final String REFUSED = "refused";
        private static final String SET_APART = "set_apart";
        private static final String DRAINING = "draining";
        private static final String DRAINED = "drained";

        public Node {
            reason = reason == null ? "" : reason;
        }

        /** Bytes in use. */
        public long usedBytes() {
            return contents.usedBytes();
        }

        /** Extents of objects on the node. */
        public long objects() {
            return contents.objects();
        }

        /** Objects that emptying it has still to move; null when it is not being emptied. */
        public Long objectsLeft() {
            return contents.objectsLeft();
        }

        /** Number of this life of its process; empty when it was not seen yet. */
        public String incarnation() {
            return life.incarnation();
        }

        /** Replicas of published objects that were gone when it came back; null when the master cannot tell. */
        public Long lostAtReturn() {
            return life.lostAtReturn();
        }

        /** The leader has met it and does not know yet what it holds. */
        public boolean syncing() {
            return SYNCING.equals(state);
        }

        /** Why the disk that the node was given is not used; empty when it is, or there is none. */
        public String ssdProblem() {
            return ssd == null || ssd.problem == null ? "" : ssd.problem;
        }

        public boolean ready() {
            return READY.equals(state);
        }

        /** It gives what it holds, also while it is to go. */
        public boolean serves() {
            return ready() || leaves();
        }

        public boolean refused() {
            return REFUSED.equals(state);
        }

        /** The master could not follow what it told, and leaves it out for a while; the reason says for how long. */
        public boolean setApart() {
            return SET_APART.equals(state);
        }

        /** Being emptied. */
        public boolean draining() {
            return DRAINING.equals(state);
        }

        /** Emptied, or its emptying ended with something left. */
        public boolean drained() {
            return DRAINED.equals(state);
        }

        /** It takes no objects, as it is to go. */
        public boolean leaves() {
            return draining() || drained();
        }
    }

    /**
     * What a storage node holds.
     *
     * @param usedBytes bytes in use
     * @param objects extents of objects on the node
     * @param objectsLeft objects that emptying it has still to move; null when it is not being emptied
     * @param leftovers the same by tier and reason; empty also where the master does not say
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Contents(long usedBytes, long objects, Long objectsLeft, List<Leftover> leftovers) {
        public Contents {
            leftovers = leftovers == null ? List.of() : List.copyOf(leftovers);
        }
    }

    /**
     * A life of the process of a storage node.
     *
     * @param incarnation its number; empty when it was not seen yet
     * @param committed what it says to hold; null when it has not said so
     * @param restored what it found in its segments; null when it has not said so
     * @param lostAtReturn replicas of published objects that were gone when it came back; null when the master cannot tell
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Life(String incarnation, Objects committed, Restored restored, Long lostAtReturn) {
        /** How masters write the number of a process that they have never met. */
        private static final Pattern UNMET = Pattern.compile("0*");

        public Life {
            incarnation = incarnation == null || UNMET.matcher(incarnation).matches() ? "" : incarnation;
        }
    }

    /**
     * What a storage node is and speaks.
     *
     * @param product product version; may be null
     * @param protocols protocols it offers
     * @param version its build; null while it is not connected
     * @param active what it keeps and writes; null when it has not told
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Build(String product, List<String> protocols, Version version, Active active) {
        public Build {
            protocols = protocols == null ? List.of() : List.copyOf(protocols);
        }
    }

    /**
     * Objects that only one storage node holds, and that were not moved yet.
     *
     * @param tier medium they lie on; may be empty
     * @param objects how many
     * @param bytes their size
     * @param reason why they were not moved; may be empty
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Leftover(String tier, long objects, long bytes, String reason) {
        public Leftover {
            reason = reason == null ? "" : reason;
        }
    }

    /**
     * Committed objects of a storage node.
     *
     * @param idsHash order-free hash of their ids
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Objects(long objects, String idsHash) {}

    /**
     * What a storage node found in its segments when its process began.
     *
     * @param idsHash order-free hash of the ids of {@code objects}
     * @param droppedRecords records that were torn, overlapping, out of range or of an epoch that no leader had
     */
    @JsonIgnoreProperties(ignoreUnknown = true)
    public record Restored(long objects, String idsHash, long droppedRecords) {}
}
