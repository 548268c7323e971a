// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.message;

/** A leader's word for one grant, for one storage node: the first 16 bytes of an HMAC-SHA256, as two numbers in little endian. */
public record GrantMac(long first, long second) {}
