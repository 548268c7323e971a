// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import dev.kvpool.dataplane.register.Register;
import dev.kvpool.dataplane.wire.message.Authority;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** Masters that elect a leader by hand: a Lease in memory, and a clock that the test sets. */
abstract class ElectionScene {
    final MemoryLeaseStore store = new MemoryLeaseStore();
    long nowMs = 50_000;
    long knownEpoch;
    final Set<String> blind = new HashSet<>();
    final Set<String> hung = new HashSet<>();

    /** A master as far as the election is concerned. */
    final class Master implements ElectionListener {
        final MemoryLeaseStore.Access access = store.access();
        final List<Authority> terms = new ArrayList<>();
        final Elector elector;
        long validUntilMs;
        long predecessorUntilMs;
        Succession succession;
        boolean leading;
        String reason = "";

        Register register = Register.NONE;
        Register stored = Register.NONE;

        Master(String name, long nonce) {
            this(name, nonce, Duration.ZERO);
        }

        /** @param skew how far its wall clock is off */
        Master(String name, long nonce, Duration skew) {
            InstantSource wallClock = () -> Instant.ofEpochMilli(nowMs).plus(skew);
            elector = new Elector(
                    new Candidate(name, nonce),
                    ElectionTimes.DEFAULT,
                    access,
                    () -> nowMs,
                    wallClock,
                    () -> new Sight(knownEpoch, !blind.contains(name), !hung.contains(name)),
                    this);
        }

        Master round() {
            elector.round(PlainWishes.NONE);
            return this;
        }

        Master store(Authority leader, Register register) {
            elector.round(PlainWishes.store(leader, register));
            return this;
        }

        long epoch() {
            return terms.getLast().epoch();
        }

        boolean serves() {
            return leading && nowMs < validUntilMs;
        }

        @Override
        public void leading(Term term) {
            terms.add(term.authority());
            validUntilMs = term.validUntilMs();
            register = term.register();
            predecessorUntilMs = term.predecessorUntilMs();
            succession = term.succession();
            leading = true;
        }

        @Override
        public void renewed(long untilMs) {
            validUntilMs = untilMs;
        }

        @Override
        public void registerStored(Register register) {
            stored = register;
        }

        @Override
        public void standingBy(String why) {
            leading = false;
            reason = why;
        }

        @Override
        public void observed(LeaseRecord lease) {}

        @Override
        public void failed(String why) {
            reason = why;
        }
    }
}
