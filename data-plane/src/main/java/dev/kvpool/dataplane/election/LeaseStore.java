// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import java.util.Optional;

/** Where the Lease is kept. Calls may block, but not for ever: a store bounds its own calls. */
public interface LeaseStore extends AutoCloseable {
    /**
     * A Lease as it was read.
     *
     * @param version changes with every write; names the state an update builds on
     */
    record Stored(LeaseRecord lease, String version) {}

    /** The Lease, or nothing when it does not exist. */
    Optional<Stored> read() throws LeaseStoreException;

    /**
     * Creates the Lease.
     *
     * @return what is stored now, or nothing when another was faster
     */
    Optional<Stored> create(LeaseRecord lease) throws LeaseStoreException;

    /**
     * Replaces the Lease if it is still in the version given.
     *
     * @return what is stored now, or nothing when another was faster
     */
    Optional<Stored> update(LeaseRecord lease, String version) throws LeaseStoreException;

    /** Where the Lease is, for messages. */
    String place();

    @Override
    void close();
}
