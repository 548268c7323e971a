// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

/** A peer broke the rules of the wire in a way that its bytes alone did not show; its connection ends. */
public final class ProtocolViolation extends Exception {
    public ProtocolViolation(String message) {
        super(message);
    }
}
