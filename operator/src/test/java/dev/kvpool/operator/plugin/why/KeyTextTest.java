// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.plugin.why;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KeyTextTest {
    private static final KeyAnswer.Replica MEMORY = new KeyAnswer.Replica("n-0", "memory", true, false, false);
    private static final KeyAnswer.Replica SSD = new KeyAnswer.Replica("n-1", "ssd", false, true, true);

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            readable    |            | The key is in pool demo: 7 bytes on n-0 (memory), n-1 (SSD, away, being emptied).
            being-put   |            | The key is not in pool demo yet: a client is putting it now.
            unavailable | nodes-away | all storage nodes that hold it are away: n-0, n-1.
            unavailable | version    | are refused, since their version does not fit: n-0, n-1.
            unavailable | behind     | only storage nodes hold it that missed removals while they were away (n-0, n-1)
            unavailable | unheard    | has not told m-0 yet what it holds: e-0.
            unavailable | other      | m-0 gives the reason other.
            absent      | evicted    | it was evicted at 12:00 to make room.
            absent      | removed    | a client removed it at 12:00.
            absent      | lost       | it was lost at 12:00: the storage nodes that held it came back without it, or ended.
            absent      | unknown    | it was never put, or was gone before 11:00, since when m-0 remembers what it evicts and removes.
            absent      | unknown    | It may be on a storage node that m-0 has not heard since it leads: e-0.
            absent      | unknown    | All objects of the pool were removed at 11:30.
            new-state   |            | m-0 says of the key that it is new-state.
            """)
    void eachAnswerIsASentence(String state, String cause, String sentence) {
        KeyAnswer answer = new KeyAnswer(
                "k",
                "m-0",
                state,
                cause,
                "12:00",
                new KeyAnswer.Value(7L, false, List.of(MEMORY, SSD)),
                List.of("e-0"),
                "11:30",
                "11:00");
        assertThat(KeyText.of(answer, "demo")).contains(sentence).endsWith("\n");
    }
}
