// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.master.core.index;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.wire.message.DirectoryRecord;
import dev.kvpool.dataplane.wire.message.ExtentRef;
import dev.kvpool.dataplane.wire.message.Key;
import dev.kvpool.dataplane.wire.message.ObjectId;
import dev.kvpool.nativelib.NativeNode;
import org.junit.jupiter.api.Test;

/** The largest segment that a node may have is one of which a master can follow every extent. */
class SegmentLimitTest {
    private static DirectoryRecord at(long offset) {
        return DirectoryRecord.committed(new ExtentRef(0, 1, 1), new ObjectId(1, 1), offset, 64, 10, 1, Key.of("key"));
    }

    @Test
    void everyOffsetOfTheLargestSegmentFits() {
        assertThat(Index.canHold(at(NativeNode.SEGMENT_BYTES_MAX - 64))).isTrue();
        assertThat(Index.canHold(at(NativeNode.SEGMENT_BYTES_MAX))).isFalse();
    }
}
