// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.master;

/** What came of asking one master. */
public sealed interface MasterAnswer {
    /** It answered. */
    record Report(PoolReport report) implements MasterAnswer {}

    /**
     * It did not answer, or not as a master does.
     *
     * @param reason why, as the end of a sentence
     */
    record Silent(String reason) implements MasterAnswer {}
}
