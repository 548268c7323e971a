// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core;

import dev.kvpool.dataplane.wire.message.Message;

/** What the core wants done by the process around it. */
public sealed interface Action {
    /** Deliver a message, after all earlier ones to the same session. */
    record Send(long session, Message message) implements Action {}

    /** End a connection; {@code reason} is for the log. */
    record Close(long session, String reason) implements Action {}

    /** A node obeys an epoch that is not ours: hold the Lease with a higher epoch than {@code above}, or lose it. */
    record RaiseEpoch(long above) implements Action {}

    /** A decision worth one line in the log. */
    record Report(String line) implements Action {}
}
