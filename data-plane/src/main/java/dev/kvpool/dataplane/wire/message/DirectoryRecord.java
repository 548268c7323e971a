// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire.message;

import dev.kvpool.wire.RecordState;

/**
 * One line of a node's directory.
 *
 * @param state FREED: only {@code extent} means anything; TOMBSTONE: objects of {@code key} up to {@code objectId} are
 *     removed, and there is no payload
 * @param offset of the payload in the segment file
 * @param extentBytes allocated bytes, key and padding included
 */
public record DirectoryRecord(
        RecordState state,
        ExtentRef extent,
        ObjectId objectId,
        long offset,
        long extentBytes,
        long payloadLength,
        int payloadCrc,
        Retention retention,
        Key key) {
    private static final Key NO_KEY = Key.of("");

    /** An object that nothing keeps from being evicted. */
    public static DirectoryRecord committed(
            ExtentRef extent,
            ObjectId objectId,
            long offset,
            long extentBytes,
            long payloadLength,
            int payloadCrc,
            Key key) {
        return new DirectoryRecord(
                RecordState.COMMITTED,
                extent,
                objectId,
                offset,
                extentBytes,
                payloadLength,
                payloadCrc,
                Retention.NONE,
                key);
    }

    public static DirectoryRecord freed(ExtentRef extent, ObjectId objectId) {
        return new DirectoryRecord(RecordState.FREED, extent, objectId, 0, 0, 0, 0, Retention.NONE, NO_KEY);
    }
}
