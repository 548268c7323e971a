// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import dev.kvpool.dataplane.config.HostPort;
import java.time.Instant;
import java.util.Optional;

/**
 * The clock of a master's machine, as its admin HTTP tells it, in whole seconds.
 *
 * @param admin where it was asked
 * @param told what it said; empty when it could not be asked
 * @param asked our time right before the question
 * @param heard our time right after the answer
 * @param failure why it could not be asked; empty when it answered
 */
record ClockReading(HostPort admin, Optional<Instant> told, Instant asked, Instant heard, String failure) {}
