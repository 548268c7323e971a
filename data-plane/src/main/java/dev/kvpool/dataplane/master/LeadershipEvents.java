// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master;

import dev.kvpool.dataplane.election.ElectionListener;
import dev.kvpool.dataplane.election.LeaseRecord;
import dev.kvpool.dataplane.election.Term;
import dev.kvpool.dataplane.master.core.MasterCore;
import dev.kvpool.dataplane.master.loop.CoreLoop;
import dev.kvpool.dataplane.register.Register;
import java.util.Optional;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Brings what the elector decides into the core. */
final class LeadershipEvents implements ElectionListener {
    private static final Logger LOG = LoggerFactory.getLogger(LeadershipEvents.class);

    private final CoreLoop loop;
    private volatile LeaseRecord lease;
    private volatile Term term;
    private volatile boolean stopped;
    private String lastFailure = "";

    LeadershipEvents(CoreLoop loop) {
        this.loop = loop;
    }

    /** The Lease as it was read last. */
    Optional<LeaseRecord> lease() {
        return Optional.ofNullable(lease);
    }

    /** The leadership of this master that began last; empty when it never led. */
    Optional<Term> term() {
        return Optional.ofNullable(term);
    }

    /** From now on nothing the elector decides reaches the core. */
    void stop() {
        stopped = true;
    }

    @Override
    public void leading(Term begun) {
        term = begun;
        submit(core -> core.lead(
                begun.authority(), begun.validUntilMs(), begun.predecessorUntilMs(), begun.register(), loop.nowMs()));
    }

    @Override
    public void renewed(long validUntilMs) {
        lastFailure = "";
        submit(core -> core.renewed(validUntilMs, loop.nowMs()));
    }

    @Override
    public void registerStored(Register register) {
        submit(core -> core.registerStored(register, loop.nowMs()));
    }

    @Override
    public void standingBy(String reason) {
        submit(core -> core.standBy(reason, loop.nowMs()));
    }

    @Override
    public void observed(LeaseRecord seen) {
        LeaseRecord before = lease;
        lease = seen;
        if (seen != null && !seen.tellsTheSame(before)) {
            submit(core -> core.leaseSeen(seen.transitions(), seen.register(), loop.nowMs()));
            if (seen.isHeld()) {
                submit(core -> core.masterSeen(seen.holderName()));
            }
        }
    }

    @Override
    public void failed(String reason) {
        if (!reason.equals(lastFailure)) {
            lastFailure = reason;
            LOG.warn("leadership: {}", reason);
        }
    }

    private void submit(Consumer<MasterCore> input) {
        if (!stopped) {
            loop.submit(input);
        }
    }
}
