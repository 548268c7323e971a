// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.storage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.api.v1alpha1.storage.StorageSetSpec;
import dev.kvpool.operator.pool.observation.ObservedNode;
import io.fabric8.kubernetes.api.model.Taint;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Labels, affinity and taints mean what they mean to Kubernetes. */
class NodeFitTest {
    private static final KubernetesSerialization YAML = new KubernetesSerialization();
    private static final ObservedNode NODE =
            new ObservedNode("n1", Map.of("disk", "fast", "cores", "64", "odd", "many"), List.of(), false, true, 0);

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource(delimiter = '|', textBlock = """
            {matchExpressions: [{key: disk, operator: In, values: [slow, fast]}]}          | true
            {matchExpressions: [{key: disk, operator: In, values: [slow]}]}                | false
            {matchExpressions: [{key: none, operator: In, values: [fast]}]}                | false
            {matchExpressions: [{key: disk, operator: NotIn, values: [slow]}]}             | true
            {matchExpressions: [{key: disk, operator: NotIn, values: [fast]}]}             | false
            {matchExpressions: [{key: none, operator: NotIn, values: [fast]}]}             | true
            {matchExpressions: [{key: disk, operator: Exists}]}                            | true
            {matchExpressions: [{key: none, operator: Exists}]}                            | false
            {matchExpressions: [{key: none, operator: DoesNotExist}]}                      | true
            {matchExpressions: [{key: disk, operator: DoesNotExist}]}                      | false
            {matchExpressions: [{key: cores, operator: Gt, values: ["63"]}]}               | true
            {matchExpressions: [{key: cores, operator: Gt, values: ["64"]}]}               | false
            {matchExpressions: [{key: cores, operator: Lt, values: ["65"]}]}               | true
            {matchExpressions: [{key: cores, operator: Lt, values: ["64"]}]}               | false
            {matchExpressions: [{key: odd, operator: Gt, values: ["1"]}]}                  | false
            {matchExpressions: [{key: none, operator: Lt, values: ["1"]}]}                 | false
            {matchFields: [{key: metadata.name, operator: In, values: [n1]}]}              | true
            {matchFields: [{key: metadata.name, operator: NotIn, values: [n1]}]}           | false
            {matchExpressions: [{key: disk, operator: Exists}, {key: none, operator: Exists}]} | false
            {}                                                                             | false
            """)
    void affinity(String term, boolean matches) {
        StorageSetSpec set = set(("{name: a, capacity: 1Gi, perNode: {}, podTemplate: {affinity: {nodeAffinity:"
                        + " {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [%s]}}}}}")
                .formatted(term));

        assertThat(new NodeFit(set, false).selects(NODE)).isEqualTo(matches);
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource(delimiter = '|', textBlock = """
            {}                          | true
            {disk: fast}                | true
            {disk: fast, cores: "64"}   | true
            {disk: slow}                | false
            {none: fast}                | false
            """)
    void labels(String selector, boolean matches) {
        StorageSetSpec set = set("{name: a, capacity: 1Gi, perNode: {nodeSelector: %s}}".formatted(selector));

        assertThat(new NodeFit(set, false).selects(NODE)).isEqualTo(matches);
    }

    @ParameterizedTest(name = "taint {0}, toleration {1}: admits {2}, keeps {3}")
    @CsvSource(delimiter = '|', textBlock = """
            {key: npu, effect: NoSchedule}                     | -                                        | false | true
            {key: npu, effect: NoExecute}                      | -                                        | false | false
            {key: npu, effect: PreferNoSchedule}               | -                                        | true  | true
            {key: npu, effect: NoSchedule}                     | {operator: Exists}                       | true  | true
            {key: npu, effect: NoExecute}                      | {operator: Exists}                       | true  | true
            {key: npu, effect: NoSchedule}                     | {key: npu, operator: Exists}             | true  | true
            {key: npu, effect: NoSchedule}                     | {key: gpu, operator: Exists}             | false | true
            {key: npu, value: a, effect: NoSchedule}           | {key: npu, value: a}                     | true  | true
            {key: npu, value: a, effect: NoSchedule}           | {key: npu, operator: Equal, value: b}    | false | true
            {key: npu, effect: NoSchedule}                     | {key: npu}                               | true  | true
            {key: npu, effect: NoExecute}                      | {key: npu, effect: NoSchedule}           | false | false
            {key: npu, effect: NoSchedule}                     | {value: ""}                              | false | true
            {key: node.kubernetes.io/not-ready, effect: NoExecute}       | -                              | true  | true
            {key: node.kubernetes.io/not-ready, effect: NoSchedule}      | -                              | false | true
            {key: node.kubernetes.io/unschedulable, effect: NoSchedule}  | -                              | true  | true
            """)
    void taints(String taint, String toleration, boolean admits, boolean keeps) {
        StorageSetSpec set = set("{name: a, capacity: 1Gi, perNode: {}, podTemplate: {tolerations: [%s]}}"
                .formatted(toleration.equals("-") ? "" : toleration));
        ObservedNode node =
                new ObservedNode("n1", Map.of(), List.of(YAML.unmarshal("--- " + taint, Taint.class)), false, true, 0);

        assertThat(new NodeFit(set, false).admits(node)).as("admits").isEqualTo(admits);
        assertThat(new NodeFit(set, false).keeps(node)).as("keeps").isEqualTo(keeps);
    }

    private static StorageSetSpec set(String yaml) {
        return YAML.unmarshal("--- " + yaml, StorageSetSpec.class);
    }
}
