// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.base;

import dev.kvpool.wire.RefusalCode;

/** Why a peer whose Hello fits is not let in all the same. */
public record Objection(RefusalCode code, String message) {}
