// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.blueprint;

import java.util.Optional;

/**
 * A storage node the masters shall expect.
 *
 * @param id its id
 * @param domain what it fails together with, empty while it is on no machine
 */
public record ExpectedNode(String id, Optional<String> domain) {}
