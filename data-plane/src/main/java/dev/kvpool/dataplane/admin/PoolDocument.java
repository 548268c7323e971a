// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.admin;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kvpool.dataplane.election.LeaseRecord;
import dev.kvpool.dataplane.election.Succession;
import dev.kvpool.dataplane.election.Term;
import dev.kvpool.dataplane.master.core.base.CacheRules;
import dev.kvpool.dataplane.master.core.base.EvictionRules;
import dev.kvpool.dataplane.master.core.report.PoolStatus;
import dev.kvpool.dataplane.master.core.report.PoolStatus.NodeState;
import dev.kvpool.dataplane.master.core.report.QuotaStatus;
import dev.kvpool.dataplane.master.core.report.TenantStatus;
import dev.kvpool.dataplane.master.core.tenant.Quota;
import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.dataplane.wire.message.ActiveVersions;
import dev.kvpool.nativelib.VersionRange;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** The JSON of {@code /api/v1/pool}; the operator reads it, so names and types stay. */
final class PoolDocument {
    private static final ObjectMapper JSON = new ObjectMapper();

    private PoolDocument() {}

    static String of(MasterAdmin master) {
        PoolStatus status = master.status();
        boolean leader = master.isLeader();
        ObjectNode root = JSON.createObjectNode();
        root.put("poolId", master.poolId());
        root.put("name", master.name());
        root.put("role", leader ? "leader" : "standby");
        root.put("state", master.state().name().toLowerCase(Locale.ROOT));
        root.put("epoch", status.epoch());
        leader(root, master.lease());
        takeover(root, master);
        versions(root.putObject("version"), master.versions());
        active(root, status.active());
        rules(root.putObject("cacheRules"), master.rules());
        master.trust().ifPresent(trust -> trust(root.putObject("trust"), trust));
        root.put("expectedNodes", status.expectedNodes());
        root.put("readyNodes", status.readyNodes());
        root.put("capacityBytes", status.capacityBytes());
        root.put("sharedCapacityBytes", status.sharedCapacityBytes());
        root.put("usedBytes", status.usedBytes());
        root.put("objects", status.objects());
        root.put("unavailableObjects", status.unavailableObjects());
        root.put("tombstones", status.tombstones());
        register(root.putObject("register"), status, master.behindSince());
        root.put("underReplicatedObjects", status.underReplicatedObjects());
        root.put("overReplicatedObjects", status.overReplicatedObjects());
        root.put("clients", status.clients());
        ArrayNode tenants = root.putArray("tenants");
        for (TenantStatus tenant : status.tenants()) {
            tenants.addObject()
                    .put("name", tenant.name())
                    .put("objects", tenant.objects())
                    .put("bytes", tenant.bytes());
        }
        quotas(root.putArray("quotas"), status.quotas());
        root.putObject("index")
                .put("usedBytes", status.index().usedBytes())
                .put("maxBytes", status.index().maxBytes())
                .put("problem", status.index().problem());
        PeerVersions peers = PeerVersions.of(master.peers());
        for (PoolStatus.Node node : status.nodes()) {
            ObjectNode object = root.withArray("nodes").addObject();
            node(object, node);
            peers.ofNode(node.id()).ifPresent(versions -> versions(object.putObject("version"), versions));
            node.contents().ifPresent(contents -> contents(object, contents));
            status.drains().stream()
                    .filter(drain -> drain.node().equals(node.id()))
                    .forEach(drain -> {
                        object.put("objectsLeft", drain.objectsLeft());
                        DrainRoutes.leftovers(drain, object.putArray("leftovers"));
                    });
        }
        root.withArray("nodes");
        clients(root.putArray("clientVersions"), peers.ofClients());
        return root.toString();
    }

    /** Who has missed removals, and who knows which. */
    private static void register(ObjectNode object, PoolStatus status, Map<String, Instant> behindSince) {
        Register register = status.register().register();
        object.put("revision", register.revision());
        object.put("awaitsWitness", status.register().awaitsWitness());
        ObjectNode behind = object.putObject("behind");
        behindSince.forEach((id, since) -> behind.putObject(id)
                .put("since", since.toString())
                .put("before", register.behindSince(id).toString()));
        register.witnesses().keySet().forEach(object.putArray("witnesses")::add);
    }

    /** Ceilings that a tenant does not have are left out. */
    private static void quotas(ArrayNode array, List<QuotaStatus> quotas) {
        for (QuotaStatus status : quotas) {
            ObjectNode object = array.addObject()
                    .put("tenant", status.tenant())
                    .put("usedBytes", status.used().allBytes())
                    .put("usedObjects", status.used().allObjects())
                    .put("guaranteedBytes", status.quota().guaranteedBytes());
            if (status.quota().ceilingBytes() != Quota.UNLIMITED) {
                object.put("ceilingBytes", status.quota().ceilingBytes());
            }
            if (status.quota().ceilingObjects() != Quota.UNLIMITED) {
                object.put("ceilingObjects", status.quota().ceilingObjects());
            }
            object.put("refusals", status.costs().refusals());
            object.put("evictions", status.costs().evictions());
        }
    }

    private static void rules(ObjectNode object, RulesInEffect now) {
        CacheRules rules = now.rules();
        EvictionRules eviction = rules.eviction();
        object.put("digest", now.digest());
        object.put("problem", now.problem());
        object.put("objectLeaseMs", rules.objectLeaseMs());
        object.put("highWatermark", eviction.high());
        object.put("lowWatermark", eviction.low());
        object.put("takeoverReserve", eviction.takeoverReserve());
        object.put("softPinMs", eviction.softPinMs());
        object.put("evictSoftPinned", eviction.evictSoftPinned());
        object.put("replicas", rules.replicas());
        object.put("repairDelayMs", rules.repairDelayMs());
        object.put("repairBytesPerSecond", rules.repairBytesPerSecond());
        object.put("consistency", rules.consistency().word());
    }

    private static void trust(ObjectNode object, TrustInEffect trust) {
        object.put("roots", trust.roots());
        object.put("authority", trust.authority());
        object.put("notAfter", trust.notAfter().toString());
        object.putObject("own")
                .put("notBefore", trust.own().notBefore().toString())
                .put("notAfter", trust.own().notAfter().toString());
        ArrayNode members = object.putArray("members");
        for (TrustInEffect.Member member : trust.members()) {
            ObjectNode said = members.addObject()
                    .put("name", member.name())
                    .put("roots", member.roots())
                    .put("authority", member.authority())
                    .put("ageMs", member.ageMs());
            member.notAfter().ifPresent(end -> said.put("notAfter", end.toString()));
        }
    }

    private static void clients(ArrayNode list, List<PeerVersions.Clients> clients) {
        for (PeerVersions.Clients same : clients) {
            ObjectNode object = list.addObject();
            versions(object, same.versions());
            object.put("count", same.count());
            object.put("example", same.example());
        }
    }

    /** What can be compared before and after the node's process was replaced. */
    private static void contents(ObjectNode object, PoolStatus.Contents contents) {
        contents.committed()
                .ifPresent(committed -> object.putObject("committed")
                        .put("objects", committed.objects())
                        .put("idsHash", hex16(committed.idsHash())));
        ObjectNode restored = object.putObject("restored");
        restored.put("objects", contents.restored().objects())
                .put("idsHash", hex16(contents.restored().idsHash()))
                .put("droppedRecords", contents.restored().dropped());
        contents.lostAtReturn().ifPresent(lost -> object.put("lostAtReturn", lost));
    }

    private static void leader(ObjectNode root, Optional<LeaseRecord> lease) {
        if (lease.isEmpty() || !lease.get().isHeld()) {
            root.putNull("leader");
            return;
        }
        root.putObject("leader")
                .put("name", lease.get().holderName())
                .put("epoch", lease.get().transitions());
    }

    /** How the leader came to lead; a standby says nothing of it. */
    private static void takeover(ObjectNode root, MasterAdmin master) {
        PoolStatus status = master.status();
        Optional<Term> term =
                master.term().filter(it -> master.isLeader() && it.authority().epoch() == status.epoch());
        if (term.isEmpty()) {
            return;
        }
        Succession succession = term.get().succession();
        ObjectNode takeover = root.putObject("takeover");
        takeover.put("epoch", status.epoch());
        takeover.put("cause", succession.cause().name().toLowerCase(Locale.ROOT));
        takeover.put("from", succession.from());
        takeover.put("durationMs", succession.waitedMs() + status.lastTakeoverMs());
        master.lease()
                .filter(lease -> lease.transitions() == status.epoch())
                .ifPresent(lease -> takeover.put("at", lease.acquireTime().toString()));
    }

    private static void versions(ObjectNode object, Versions versions) {
        object.put("product", versions.product());
        range(object.putObject("wire"), versions.wire());
        range(object.putObject("layout"), versions.layout());
        range(object.putObject("abi"), versions.abi());
    }

    /** What is spoken and written now; absent while nobody has told. */
    private static void active(ObjectNode object, ActiveVersions active) {
        if (!active.equals(ActiveVersions.UNKNOWN)) {
            object.putObject("active").put("wire", active.wire()).put("layout", active.layout());
        }
    }

    private static void range(ObjectNode object, VersionRange range) {
        object.put("min", range.min()).put("max", range.max());
    }

    private static void node(ObjectNode object, PoolStatus.Node node) {
        object.put("id", node.id());
        object.put("state", state(node.state()));
        object.put("reason", node.reason());
        object.put("transient", node.isTransient());
        object.put("capacityBytes", node.capacityBytes());
        object.put("usedBytes", node.usedBytes());
        PoolStatus.Ssd ssd = node.ssd();
        if (ssd.capacityBytes() > 0 || !ssd.problem().isEmpty()) {
            object.putObject("ssd")
                    .put("capacityBytes", ssd.capacityBytes())
                    .put("usedBytes", ssd.usedBytes())
                    .put("objects", ssd.objects())
                    .put("arriving", ssd.arriving())
                    .put("problem", ssd.problem());
        }
        object.put("objects", node.objects());
        object.put("incarnation", hex16(node.incarnation()));
        object.put("product", node.product());
        node.protocols().forEach(object.putArray("protocols")::add);
        object.put("address", node.address());
        object.put("sharedMemory", node.sharedMemory());
        active(object, node.active());
    }

    private static String hex16(long number) {
        return "%016x".formatted(number);
    }

    private static String state(NodeState state) {
        return state.name().toLowerCase(Locale.ROOT);
    }
}
