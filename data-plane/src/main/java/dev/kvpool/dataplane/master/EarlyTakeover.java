// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import dev.kvpool.dataplane.election.ElectorThread;
import dev.kvpool.dataplane.master.LeaderProbe.Finding;
import dev.kvpool.dataplane.wire.message.Authority;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a standby does about a leader that others say is gone: it looks for itself, and takes the Lease without waiting for it
 * to run out. Wrong or late, this costs a change of leaders and no more: nodes obey the highest epoch only.
 */
final class EarlyTakeover {
    private static final Logger LOG = LoggerFactory.getLogger(EarlyTakeover.class);

    private final LeaderProbe probe;
    private final ElectorThread elector;
    private final LongSupplier clockMs;
    private final AtomicBoolean looking = new AtomicBoolean();
    private final SilentLeader silent = new SilentLeader();

    EarlyTakeover(LeaderProbe probe, ElectorThread elector, LongSupplier clockMs) {
        this.probe = probe;
        this.elector = elector;
        this.clockMs = clockMs;
    }

    /** The Lease may be free. */
    void leaderLeft() {
        elector.look();
    }

    /**
     * Most nodes say so, or somebody who watches the leader's process. The first word starts a look, and further ones during it
     * change nothing.
     */
    void leaderCrashed(Authority authority, String address) {
        if (looking.compareAndSet(false, true)) {
            long sinceMs = clockMs.getAsLong();
            Thread.ofVirtual().name("leader-probe").start(() -> look(authority, address, sinceMs));
        }
    }

    /**
     * Most nodes hear nothing of the leader.
     *
     * @param proved it can only lead, at {@code atMs}, if it had just renewed its Lease
     */
    void leaderSilent(Authority authority, String address, boolean proved, long atMs) {
        switch (silent.silent(authority, proved, clockMs.getAsLong())) {
            case NOTHING -> {}
            case PROBE -> {
                elector.look();
                Thread.ofVirtual().name("leader-probe").start(() -> probe(authority, address));
            }
            case TAKE -> elector.takeSilent(authority, atMs);
        }
    }

    private void probe(Authority authority, String address) {
        Finding finding = Finding.UNKNOWN;
        try {
            finding = probe.look(address, authority.nonce());
            LOG.info(
                    "most nodes hear nothing of the leader with {}; looked for it at {}: {}",
                    authority,
                    address,
                    finding);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            silent.found(authority, finding, clockMs.getAsLong());
        }
    }

    private void look(Authority authority, String address, long sinceMs) {
        try {
            Finding finding = probe.look(address, authority.nonce());
            LOG.info("looked for the leader with {} at {}: {}", authority, address, finding);
            if (finding == Finding.GONE) {
                elector.take(authority, sinceMs);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            looking.set(false);
        }
    }
}
