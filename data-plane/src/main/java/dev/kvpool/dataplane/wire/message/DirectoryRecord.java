// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.message;

/**
 * One line of a node's directory.
 *
 * @param committed false: the extent was freed, and only {@code extent} means anything
 * @param offset of the payload in the segment file
 * @param extentBytes allocated bytes, key and padding included
 */
public record DirectoryRecord(
        boolean committed,
        ExtentRef extent,
        ObjectId objectId,
        long offset,
        long extentBytes,
        long payloadLength,
        int payloadCrc,
        Key key) {}
