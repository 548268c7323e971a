// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.master.core.base.Bounds;
import dev.kvpool.dataplane.wire.message.ClientReply.RemoveReply;
import dev.kvpool.dataplane.wire.message.ClientRequest.CopyRequest;
import dev.kvpool.dataplane.wire.message.ClientRequest.RemoveRequest;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.nativelib.Status;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The copy on one node goes alone, and only where the object outlives it or was meant to go with it. */
class CopyRemovalTest {
    private static final long MIB = 1 << 20;

    private final Scenario pool =
            new Scenario().withNodes(MIB, "a", "b").withReplicas(2).leading(7);

    private boolean isOn(String node) {
        return !pool.node(node).directory().isEmpty();
    }

    @Test
    void oneCopyGoesAndIsNotReplaced() {
        pool.put("k", 100);

        assertThat(pool.removeCopy("k", "a", false)).isEqualTo(Status.OK);

        assertThat(isOn("a")).isFalse();
        assertThat(pool.find("k").replicas()).hasSize(1);
        pool.pass(2 * Bounds.REPAIR_REST_MS_MAX);
        assertThat(isOn("a")).isFalse();
        assertThat(isOn("b")).isTrue();
        assertThat(pool.talkedTo().status().underReplicatedObjects()).isZero();
    }

    @Test
    void theLastCopyTakesTheObjectWithIt() {
        pool.put("k", 100);
        assertThat(pool.removeCopy("k", pool.node("a").address(), false)).isEqualTo(Status.OK);

        assertThat(pool.removeCopy("k", "b", false)).isEqualTo(Status.OK);

        assertThat(pool.find("k").status()).isEqualTo(Status.NOT_FOUND);
        assertThat(isOn("b")).isFalse();
    }

    @Test
    void readersAreNotDisturbed() {
        pool.put("k", 100);
        pool.find("k");

        assertThat(pool.removeCopy("k", "a", false)).isEqualTo(Status.HAS_LEASE);
        assertThat(pool.removeCopy("k", "a", true)).isEqualTo(Status.OK);
        assertThat(pool.removeCopy("k", "b", false)).isEqualTo(Status.HAS_LEASE);
    }

    @Test
    void whereThereIsNoneNothingGoes() {
        pool.put("k", 100);
        pool.removeCopy("k", "a", false);

        assertThat(pool.removeCopy("k", "a", true)).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.removeCopy("k", "nobody", true)).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.removeCopy("other", "b", true)).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.removeCopy("", "b", true)).isEqualTo(Status.INVALID_KEY);
        assertThat(isOn("b")).isTrue();
    }

    @Test
    void theOnlyCopyThatCanBeReadStays() {
        pool.put("k", 100);
        pool.crash("b");

        assertThat(pool.removeCopy("k", "a", true)).isEqualTo(Status.UNAVAILABLE);
        assertThat(pool.removeCopy("k", "b", true)).isEqualTo(Status.NOT_FOUND);
        assertThat(pool.find("k").status()).isEqualTo(Status.OK);
    }

    @Test
    void aCopyThatIsBeingMadeIsCountedOn() {
        Scenario three =
                new Scenario().withNodes(MIB, "a", "b", "c").withReplicas(2).leading(7);
        three.put("k", 100);
        String free = List.of("a", "b", "c").stream()
                .filter(node -> three.node(node).directory().isEmpty())
                .findFirst()
                .orElseThrow();
        String holder = free.equals("a") ? "b" : "a";
        three.send(new CopyRequest(three.nextRequest(), Key.of("k"), "", List.of(free)));

        assertThat(three.removeCopy("k", holder, false)).isEqualTo(Status.BUSY);
        three.world.run(1_000);
        assertThat(three.removeCopy("k", holder, false)).isEqualTo(Status.OK);
        assertThat(three.find("k").replicas()).hasSize(2);
    }

    @Test
    void aGroupHasNoCopyOnANode() {
        RemoveRequest request = new RemoveRequest(pool.nextRequest(), true, true, List.of(Key.of("g")), "a");
        pool.send(request);

        assertThat(pool.reply(request.requestId(), RemoveReply.class).status()).isEqualTo(Status.INVALID_ARGUMENT);
    }
}
