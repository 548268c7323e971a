// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.kvpool.dataplane.wire.message.ObjectId;
import org.junit.jupiter.api.Test;

class ObjectIdTest {
    @Test
    void epochAndCounterAreUnsigned() {
        assertThat(new ObjectId(2, 0).isNewerThan(new ObjectId(1, -1))).isTrue();
        assertThat(new ObjectId(1, -1).isNewerThan(new ObjectId(1, 1))).isTrue();
        assertThat(new ObjectId(-1, 0).isNewerThan(new ObjectId(1, 0))).isTrue();
        assertThat(new ObjectId(1, 1).isNewerThan(new ObjectId(1, 1))).isFalse();
    }

    @Test
    void nothingLiesBetweenAnIdAndTheOneBefore() {
        assertThat(new ObjectId(3, 7).before()).isEqualTo(new ObjectId(3, 6));
        assertThat(new ObjectId(3, 0).before()).isEqualTo(new ObjectId(2, -1));
        assertThatIllegalStateException().isThrownBy(ObjectId.NONE::before).withMessageContaining("no id is older");
    }
}
