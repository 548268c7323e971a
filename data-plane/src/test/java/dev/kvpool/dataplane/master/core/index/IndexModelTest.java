// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Change.Cause;
import dev.kvpool.dataplane.master.core.base.ExtentSize;
import dev.kvpool.dataplane.master.core.index.PlainIndex.Plain;
import dev.kvpool.dataplane.master.core.index.PlainIndex.PlainNode;
import dev.kvpool.dataplane.master.core.index.PlainIndex.PlainReplica;
import dev.kvpool.dataplane.master.core.index.StoredObject.Fate;
import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.dataplane.wire.message.Retention;
import dev.kvpool.dataplane.wire.message.Tenant;
import dev.kvpool.wire.RecordState;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.BiPredicate;
import org.junit.jupiter.api.Test;

/**
 * The index against {@link PlainIndex}: the same random calls on both, and after each few of them everything compared that
 * can be asked for. {@code -Dkvpool.seed=N} runs one seed alone, {@code -Dkvpool.seeds=N} more of them.
 */
class IndexModelTest {
    private static final int SEEDS = Integer.getInteger("kvpool.seeds", 25);
    private static final Long ONE_SEED = Long.getLong("kvpool.seed");
    private static final int STEPS = 3_000;
    private static final int SLOTS = 40;

    /** Few ids and keys, so that replicas meet and keys are fought for. */
    private static final int IDS = 60;

    private static final int KEYS = 25;
    private static final int POOL_COPIES = 2;

    @Test
    void theCompactIndexDoesWhatThePlainOneDoes() {
        long first = ONE_SEED == null ? 1 : ONE_SEED;
        long last = ONE_SEED == null ? SEEDS : ONE_SEED;
        for (long seed = first; seed <= last; seed++) {
            try {
                new Run(seed).steps();
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + seed + " (run it alone with -Dkvpool.seed=" + seed + ")", e);
            }
        }
    }

    private static final class Run {
        private final Random random;
        private final Index index;
        private final PlainIndex plain = new PlainIndex();
        private final List<NodeView> nodes = new ArrayList<>();
        private final List<PlainNode> plainNodes = new ArrayList<>();
        private boolean serving;
        private long nowMs = -50_000;

        Run(long seed) {
            random = new Random(seed);
            index = new Index(POOL_COPIES, random);
            for (int i = 0; i < 3; i++) {
                nodes.add(new NodeView("n" + i));
                plainNodes.add(new PlainNode());
                index.beginSnapshot(nodes.get(i));
                plain.beginSnapshot(plainNodes.get(i));
            }
        }

        void steps() {
            for (int step = 0; step < STEPS; step++) {
                nowMs += random.nextInt(100);
                step();
                index.recount(random.nextInt(10));
                if (step % 20 == 0) {
                    compare();
                }
            }
            for (int i = 0; i < nodes.size(); i++) {
                index.drop(nodes.get(i), Integer.MAX_VALUE);
                plain.dropAll(plainNodes.get(i));
            }
            compare();
            assertThat(index.size()).isZero();
        }

        private void step() {
            int n = random.nextInt(nodes.size());
            NodeView node = nodes.get(n);
            PlainNode plainNode = plainNodes.get(n);
            switch (random.nextInt(22)) {
                case 0, 1, 2, 3, 4, 5, 6, 7 -> commit(node, plainNode, line());
                case 8, 9 -> {
                    ExtentRef extent = extent();
                    index.freed(node, extent);
                    plain.freed(plainNode, extent);
                }
                case 10, 11, 12 -> decide();
                case 13, 14 -> use();
                case 15 -> {
                    boolean usable = random.nextBoolean();
                    index.setUsable(node, usable);
                    plainNode.usable = usable;
                }
                case 16 -> free(node, plainNode);
                case 17 -> evictColdest();
                case 18 -> snapshot(node, plainNode);
                case 19, 20 -> copy(node, plainNode);
                default -> seldom(node, plainNode);
            }
        }

        private StoredObject named(ObjectId id) {
            return index.object(new StoredObject.Name(id, Tenant.DEFAULT));
        }

        private void commit(NodeView node, PlainNode plainNode, DirectoryRecord line) {
            StoredObject object = index.commit(node, line);
            Plain expected = plain.commit(plainNode, line);
            assertThat(object == null).isEqualTo(expected == null);
            if (object != null) {
                assertThat(object.id()).isEqualTo(expected.id());
                assertThat(object.isOn(node)).isTrue();
            }
        }

        /** What an id stands for follows from the id, but now and then a node disagrees. */
        private DirectoryRecord line() {
            int number = random.nextInt(IDS);
            ObjectId id = new ObjectId(number % 3 == 0 ? 2_000_000_000L : 7, number * 0x1_0000_0001L);
            Key key = Key.of("k" + "x".repeat(number % KEYS * 171) + number % KEYS);
            long length = number * 1000L + (random.nextInt(20) == 0 ? 1 : 0);
            long bytes = ExtentSize.of(key.length(), length) + (random.nextInt(20) == 0 ? 4096 : 0);
            Retention retention = Retention.of(number % 4 == 1, number % 5 == 1, number % 4 * 1000L, number % 7 * -1L);
            return new DirectoryRecord(
                    RecordState.COMMITTED, extent(), id, number * 64L, bytes, length, number, retention, key);
        }

        private ExtentRef extent() {
            long slot = random.nextInt(SLOTS);
            return new ExtentRef(
                    slot % 2 == 0 ? ExtentRef.MEMORY : slot % 4 == 1 ? ExtentRef.SSD : 65_535,
                    slot % 3 == 0 ? 0xffff_ffffL - slot : slot,
                    random.nextInt(50));
        }

        private Plain any() {
            List<ObjectId> ids = plain.objects.keySet().stream().sorted().toList();
            return ids.isEmpty() ? null : plain.objects.get(ids.get(random.nextInt(ids.size())));
        }

        private void decide() {
            Plain object = any();
            if (object == null) {
                return;
            }
            boolean canPublish = object.fate != Fate.PUBLISHED && !plain.published.containsKey(object.told.key());
            if (canPublish && random.nextInt(4) > 0) {
                assertThat(index.publishedUnderKeyOf(named(object.id()))).isNull();
                int wanted = 1 + random.nextInt(3);
                index.publish(named(object.id()), wanted);
                plain.publish(object, wanted);
            } else if (random.nextInt(3) == 0) {
                index.doom(named(object.id()), Cause.REMOVED);
                plain.doom(object);
            }
        }

        private void use() {
            Plain object = any();
            if (object != null && object.fate == Fate.PUBLISHED) {
                StoredObject found = index.published(object.told.key());
                long untilMs = nowMs + random.nextInt(10_000) - 2_000;
                index.lease(found, untilMs);
                object.leaseUntilMs = Math.max(object.leaseUntilMs, untilMs);
                index.touch(found);
                plain.touch(object);
            }
        }

        private void copy(NodeView target, PlainNode plainTarget) {
            Plain object = any();
            if (object == null) {
                return;
            }
            if (random.nextBoolean()) {
                index.copying(named(object.id()), target);
                plain.copying(object, plainTarget);
            } else if (random.nextInt(10) > 0) {
                index.copied(new StoredObject.Name(object.id(), Tenant.DEFAULT), target);
                plain.copied(object, plainTarget);
            } else {
                index.forgetCopies();
                plain.forgetCopies();
            }
        }

        private void free(NodeView node, PlainNode plainNode) {
            for (Replica replica : index.replicasOn(node)) {
                PlainReplica expected = plainNode.replicas.get(PlainIndex.place(replica.extent()));
                if (expected.line.extent().slot() % 4 == 0) {
                    expected.freeing = random.nextBoolean();
                    if (expected.freeing) {
                        index.freeing(replica);
                    } else {
                        index.noLongerFreeing(replica);
                    }
                }
            }
        }

        private void evictColdest() {
            List<StoredObject> victims = new ArrayList<>();
            for (StoredObject object : index.recency()) {
                if (victims.size() == 3) {
                    break;
                }
                victims.add(object);
                index.doom(object, Cause.REMOVED);
            }
            for (StoredObject victim : victims) {
                plain.doom(plain.objects.get(victim.id()));
            }
        }

        private void snapshot(NodeView node, PlainNode plainNode) {
            List<DirectoryRecord> again = new ArrayList<>();
            for (PlainReplica replica : plainNode.replicas.values()) {
                if (random.nextInt(8) > 0) {
                    again.add(replica.line);
                }
            }
            index.beginSnapshot(node);
            plain.beginSnapshot(plainNode);
            for (DirectoryRecord line : again) {
                commit(node, plainNode, line);
                if (random.nextInt(8) == 0) {
                    commit(node, plainNode, line());
                }
            }
            if (random.nextInt(3) > 0) {
                index.dropUnconfirmed(node, Integer.MAX_VALUE);
                plain.dropUnconfirmed(plainNode);
            }
        }

        private void seldom(NodeView node, PlainNode plainNode) {
            switch (random.nextInt(12)) {
                case 0 -> {
                    index.drop(node, Integer.MAX_VALUE);
                    plain.dropAll(plainNode);
                    hangUp(node, plainNode);
                }
                case 1 -> {
                    index.reconsider();
                    index.goOnReconsidering(Integer.MAX_VALUE);
                    plain.reconsider();
                }
                case 2, 3 -> {
                    serving = !serving;
                    index.serve(serving, nodes);
                }
                case 4 -> hangUp(node, plainNode);
                default -> {}
            }
        }

        private void hangUp(NodeView node, PlainNode plainNode) {
            index.disconnected(node);
            plainNode.usable = false;
            plainNode.shown = false;
        }

        // ---- comparing --------------------------------------------------------------------------------------------

        private void compare() {
            assertThat(index.size()).isEqualTo(plain.objects.size());
            assertThat(index.publishedCount()).isEqualTo(plain.published.size());
            index.recount(Integer.MAX_VALUE);
            assertThat(index.isCounted()).isTrue();
            assertThat(index.unavailableCount()).isEqualTo(published((counted, wanted) -> counted == 0));
            assertThat(index.shortOfCopies()).isEqualTo(published((counted, wanted) -> counted < wanted));
            assertThat(index.overReplicated()).isEqualTo(published((counted, wanted) -> counted > wanted));
            compare(index.unsettled(), Fate.UNSETTLED);
            compare(index.pendingFree(), Fate.PENDING_FREE);
            assertThat(index.publishedKeys(Tenant.DEFAULT, 1000))
                    .containsExactlyInAnyOrderElementsOf(plain.published.keySet());
            List<ObjectId> order = new ArrayList<>();
            index.recency().forEach(object -> order.add(object.id()));
            assertThat(order).containsExactlyElementsOf(plain.recency.keySet());
            plain.published.forEach(
                    (key, object) -> assertThat(index.published(key).id()).isEqualTo(object.id()));
            int seen = 0;
            for (StoredObject object : index.all()) {
                compare(object, plain.objects.get(object.id()));
                seen++;
            }
            assertThat(seen).isEqualTo(plain.objects.size());
            for (int i = 0; i < nodes.size(); i++) {
                compare(nodes.get(i), plainNodes.get(i));
            }
        }

        private long published(BiPredicate<Integer, Integer> which) {
            return plain.published.values().stream()
                    .filter(object -> which.test(
                            object.counted(serving), named(object.id()).wanted()))
                    .count();
        }

        private void compare(ObjectChain chain, Fate fate) {
            List<ObjectId> inChain = new ArrayList<>();
            for (StoredObject object : chain) {
                if (object.equals(named(object.id()))) {
                    inChain.add(object.id());
                }
                assertThat(object.fate()).isEqualTo(fate);
            }
            assertThat(inChain)
                    .containsExactlyInAnyOrderElementsOf(plain.objects.values().stream()
                            .filter(object -> object.fate == fate)
                            .map(Plain::id)
                            .toList());
        }

        private void compare(StoredObject object, Plain expected) {
            assertThat(named(expected.id())).isEqualTo(object);
            assertThat(object.key()).isEqualTo(expected.told.key());
            assertThat(object.hasKey(expected.told.key())).isTrue();
            assertThat(object.payloadLength()).isEqualTo(expected.told.payloadLength());
            assertThat(object.payloadCrc()).isEqualTo(expected.told.payloadCrc());
            assertThat(object.retention()).isEqualTo(expected.told.retention());
            assertThat(object.fate()).isEqualTo(expected.fate);
            assertThat(object.leaseUntilMs()).isEqualTo(expected.leaseUntilMs);
            assertThat(object.isAvailable()).isEqualTo(expected.usable() > 0);
            assertThat(object.replicaCount()).isEqualTo(expected.replicas.size());
            assertThat(object.usableReplicas()).isEqualTo(expected.usable());
            List<ExtentRef> extents = new ArrayList<>();
            object.replicas().forEach(replica -> extents.add(replica.extent()));
            assertThat(extents)
                    .containsExactlyInAnyOrderElementsOf(expected.replicas.stream()
                            .map(replica -> replica.line.extent())
                            .toList());
        }

        private void compare(NodeView node, PlainNode expected) {
            assertThat(node.usable).isEqualTo(expected.usable);
            assertThat(node.replicaCount()).isEqualTo(expected.replicas.size());
            assertThat(node.room.usedBytes()).isEqualTo(expected.bytes(true));
            assertThat(node.room.freeingBytes()).isEqualTo(expected.freeingBytes(true));
            assertThat(node.ssd.usedBytes()).isEqualTo(expected.bytes(false));
            assertThat(node.replicas.ssd().freeingBytes()).isEqualTo(expected.freeingBytes(false));
            for (Replica replica : index.replicasOn(node)) {
                PlainReplica plainReplica = expected.replicas.get(PlainIndex.place(replica.extent()));
                DirectoryRecord line = plainReplica.line;
                assertThat(replica.extent()).isEqualTo(line.extent());
                assertThat(replica.offset()).isEqualTo(line.offset());
                assertThat(replica.extentBytes()).isEqualTo(line.extentBytes());
                assertThat(replica.isFreeing()).isEqualTo(plainReplica.freeing);
                assertThat(replica.node()).isSameAs(node);
                assertThat(replica.object().id()).isEqualTo(plainReplica.object.id());
                assertThat(replica.object().fate()).isEqualTo(plainReplica.object.fate);
                assertThat(index.replica(node, line.extent())).isEqualTo(replica);
            }
        }
    }
}
