// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import java.util.Optional;
import java.util.function.UnaryOperator;

/** A Lease in memory, shared by the electors of a test. Not for more than one thread. */
public final class MemoryLeaseStore {
    private Optional<LeaseStore.Stored> stored = Optional.empty();
    private long versions;

    /** What one master sees of it; it can be cut off, and its writes can go through unanswered. */
    public final class Access implements LeaseStore {
        private boolean cut;
        private boolean answersLost;
        private Runnable beforeWrite = () -> {};

        public void cut(boolean on) {
            cut = on;
        }

        public void loseAnswers(boolean on) {
            answersLost = on;
        }

        /** Happens once, between this master's reading the Lease and its next write. */
        public void beforeWrite(Runnable event) {
            beforeWrite = event;
        }

        @Override
        public Optional<Stored> read() throws LeaseStoreException {
            failIf(cut);
            return stored;
        }

        @Override
        public Optional<Stored> create(LeaseRecord lease) throws LeaseStoreException {
            failIf(cut);
            if (stored.isPresent()) {
                return Optional.empty();
            }
            put(lease);
            failIf(answersLost);
            return stored;
        }

        @Override
        public Optional<Stored> update(LeaseRecord lease, String version) throws LeaseStoreException {
            failIf(cut);
            Runnable event = beforeWrite;
            beforeWrite = () -> {};
            event.run();
            if (!stored.map(Stored::version).equals(Optional.of(version))) {
                return Optional.empty();
            }
            put(lease);
            failIf(answersLost);
            return stored;
        }

        @Override
        public String place() {
            return "memory";
        }

        @Override
        public void close() {}

        private void failIf(boolean broken) throws LeaseStoreException {
            if (broken) {
                throw new LeaseStoreException("the test cut the line");
            }
        }
    }

    public Access access() {
        return new Access();
    }

    public Optional<LeaseRecord> lease() {
        return stored.map(LeaseStore.Stored::lease);
    }

    public void delete() {
        stored = Optional.empty();
    }

    /** Changes the Lease behind everybody's back. */
    public void edit(UnaryOperator<LeaseRecord> change) {
        put(change.apply(stored.orElseThrow().lease()));
    }

    private void put(LeaseRecord lease) {
        versions++;
        stored = Optional.of(new LeaseStore.Stored(lease, Long.toString(versions)));
    }
}
