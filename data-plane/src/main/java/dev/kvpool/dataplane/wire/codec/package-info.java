// SPDX-License-Identifier: Apache-2.0
/** Messages to bytes and back (Simple Binary Encoding). Bytes from the network are never trusted here. */
package dev.kvpool.dataplane.wire.codec;
