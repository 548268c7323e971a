// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.nativelib;

import java.util.Optional;

/**
 * The answer for one key of a {@link NativeClient#get}.
 *
 * @param status {@link Status#OK}, or why there is no value
 * @param bytes the value; present exactly when the status is OK
 */
public record ObjectValue(Status status, Optional<byte[]> bytes) {}
