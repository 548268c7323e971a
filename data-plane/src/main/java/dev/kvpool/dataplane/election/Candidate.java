// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import java.util.HexFormat;

/**
 * Who stands for election. The nonce is drawn anew in every life of a process: a master restarted under its old name is
 * somebody else, so that its taking the Lease is a transition and gives a new epoch.
 *
 * @param name of the master, such as its pod's
 */
public record Candidate(String name, long nonce) {
    /** The holder identity in the Lease. */
    public String identity() {
        return name + "_" + HexFormat.of().toHexDigits(nonce);
    }
}
