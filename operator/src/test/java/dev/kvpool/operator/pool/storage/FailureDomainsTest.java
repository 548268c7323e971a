// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.storage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.operator.pool.observation.ObservedNode;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FailureDomainsTest {
    /** Storage nodes a, b, c on Kubernetes nodes NAME@ZONE. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", textBlock = """
            n1 n1 n2             | n1 n1 n2    | no zones: what is on one node fails together
            n1@eu-1 n2@eu-1 n2@eu-1 | n1 n2 n2 | one zone keeps nothing apart
            n1@eu-1 n2@eu-2 n3@eu-1 | eu-1 eu-2 eu-1 | two zones do
            n1@eu-1 n2@eu-2 n3   | eu-1 eu-2 n3 | and a node without one is one of its own
            n1@eu-1 - -          | n1 - -      | pods that run nowhere yet fail with nobody
            """)
    void domains(String hosts, String expected, String why) {
        Map<String, ObservedNode> where = new TreeMap<>();
        Map<String, String> wanted = new TreeMap<>();
        for (int i = 0; i < 3; i++) {
            String id = "abc".substring(i, i + 1);
            String[] host = hosts.split(" ", -1)[i].split("@", -1);
            if (!host[0].equals("-")) {
                Map<String, String> labels = new HashMap<>();
                if (host.length > 1) {
                    labels.put("topology.kubernetes.io/zone", host[1]);
                }
                where.put(id, new ObservedNode(host[0], labels, List.of(), false, true, 0));
                wanted.put(id, expected.split(" ", -1)[i]);
            }
        }

        assertThat(FailureDomains.of(where)).as(why).isEqualTo(wanted);
    }

    @Test
    void longNamesBecomeNamesThatMastersTake() {
        String one = "n".repeat(200) + "1";
        String other = "n".repeat(200) + "2";

        Map<String, String> domains = FailureDomains.of(Map.of(
                "a", new ObservedNode(one, Map.of(), List.of(), false, true, 0),
                "b", new ObservedNode(other, Map.of(), List.of(), false, true, 0)));

        assertThat(domains.values())
                .doesNotHaveDuplicates()
                .allSatisfy(domain -> assertThat(domain).matches("[A-Za-z0-9]([-._A-Za-z0-9]{0,61}[A-Za-z0-9])?"));
    }
}
