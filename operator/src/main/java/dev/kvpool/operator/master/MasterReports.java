// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.master;

import java.util.Map;

/** What masters know of their pool: all that is needed to see one, and all that users' tools ask. */
public interface MasterReports {
    /**
     * Asks all given masters at the same time, and takes no longer than a fixed limit for all of them together.
     *
     * @param masters where each is, by pod name
     * @return one answer for each given pod
     */
    Map<String, MasterAnswer> ask(Map<String, MasterEndpoint> masters);
}
