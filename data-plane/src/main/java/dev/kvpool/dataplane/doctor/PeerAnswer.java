// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Answer;
import java.time.Duration;
import java.util.Optional;

/**
 * What came of a visit to one master or storage node.
 *
 * @param address where it should be
 * @param answer what it said to our Hello; empty when it could not be asked
 * @param failure why not; empty when it answered
 * @param took from the dial to the answer
 */
record PeerAnswer(HostPort address, Optional<Answer> answer, String failure, Duration took) {}
