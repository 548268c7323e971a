// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.fabric8.kubernetes.client.KubernetesClientException;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Requests are under way together, and the failure of one is its own. */
class RequestsAtOnceTest {
    @Test
    void eachHasItsOwnAnswerOrFailure() {
        List<String> names = IntStream.range(0, 40).mapToObj(n -> "object-" + n).toList();

        RequestsAtOnce<String, Integer> sent = RequestsAtOnce.send(names, name -> {
            if (name.equals("object-7")) {
                throw new KubernetesClientException("refused");
            }
            if (name.equals("object-8")) {
                throw new IllegalStateException("broken");
            }
            return name.length();
        });

        assertThat(sent.answer(names.get(0))).isEqualTo(8);
        assertThat(sent.answer(names.get(39))).isEqualTo(9);
        assertThatThrownBy(() -> sent.answer(names.get(7)))
                .isInstanceOf(KubernetesClientException.class)
                .hasMessage("refused");
        assertThatThrownBy(() -> sent.answer(names.get(8))).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void severalAreUnderWayAtOnce() {
        List<Integer> some = List.of(1, 2, 3, 4);
        CyclicBarrier all = new CyclicBarrier(some.size());

        RequestsAtOnce<Integer, Boolean> sent = RequestsAtOnce.send(some, one -> met(all));

        assertThat(some).allMatch(sent::answer);
    }

    @Test
    void anEmptyAnswerIsAnAnswer() {
        Object about = new Object();

        assertThat(RequestsAtOnce.send(List.of(about), one -> null).answer(about))
                .isNull();
    }

    /** One after the other, they would never meet. */
    private static boolean met(CyclicBarrier all) {
        try {
            all.await(1, TimeUnit.MINUTES);
            return true;
        } catch (Exception e) {
            return false;
        }
    }
}
