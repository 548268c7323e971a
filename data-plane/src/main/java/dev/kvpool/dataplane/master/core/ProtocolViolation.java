// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

/** A peer broke the rules of the wire in a way that its bytes alone did not show; its connection ends. */
final class ProtocolViolation extends Exception {
    ProtocolViolation(String message) {
        super(message);
    }
}
