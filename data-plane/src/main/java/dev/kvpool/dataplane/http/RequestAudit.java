// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.http;

import java.util.Optional;

/** Is told of each request once it is known what came of it. */
public interface RequestAudit {
    /** Writes nothing down. */
    RequestAudit NONE = (request, status, refused) -> {};

    /**
     * A request, without what was asked for in it.
     *
     * @param caller who made it
     * @param method GET for HEAD
     * @param path as it was asked for, so any text
     * @param tenant that it names; any text too
     */
    record Asked(Caller caller, String method, String path, Optional<String> tenant) {}

    /**
     * One was answered. Called by any thread, and soon returns.
     *
     * @param status of the answer
     * @param refused whether the guard did not let it through
     */
    void answered(Asked request, int status, boolean refused);
}
