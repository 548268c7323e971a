// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.observation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What Ascend's device plugin writes into its ConfigMap, whole and broken. */
class SickNpusTest {
    @Test
    void eachListAndGraveFaultsCount() {
        SickNpus sick = SickNpus.of(Map.of("DeviceInfoCfg", """
                {"DeviceInfo": {"DeviceList": {
                  "huawei.com/Ascend910": "Ascend910-0",
                  "huawei.com/Ascend910-Unhealthy": "Ascend910-1,Ascend910-2",
                  "huawei.com/Ascend910-NetworkUnhealthy": "Ascend910-2,Ascend910-3",
                  "huawei.com/Ascend910-Recovering": "",
                  "huawei.com/Ascend910-Fault": "[{\\"npu_name\\":\\"Ascend910-4\\",\\"fault_level\\":\\"SeparateNPU\\"},{\\"npu_name\\":\\"Ascend910-5\\",\\"fault_level\\":\\"NotHandleFault\\"}]"},
                  "UpdateTime": 1}, "CheckCode": "0"}""", "ManuallySeparateNPU", "Ascend910-6"));

        assertThat(sick.words())
                .containsExactly(
                        Map.entry(1, "unhealthy"),
                        Map.entry(2, "unhealthy"),
                        Map.entry(3, "without network"),
                        Map.entry(4, "at fault level SeparateNPU"),
                        Map.entry(6, "separated by hand"));
        assertThat(sick.among(List.of(0, 5))).isEmpty();
        assertThat(sick.among(List.of(3, 0, 1))).contains("NPU 1, which is unhealthy, NPU 3, which is without network");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                " ",
                "null",
                "[]",
                "{",
                "{\"DeviceInfo\": null}",
                "{\"DeviceInfo\": {\"DeviceList\": null}}",
                "{\"DeviceInfo\": {\"DeviceList\": {\"a-Unhealthy\": null, \"a-Fault\": null}}}",
                "{\"DeviceInfo\": {\"DeviceList\": {\"a-Fault\": \"null\", \"b-Fault\": \"[null]\", \"c-Fault\": \"[{}]\", \"d-Fault\": \"[{\"}}}",
                "{\"DeviceInfo\": {\"DeviceList\": {\"a-Unhealthy\": \",, ,3,-3,npu-,npu-99999999999,Ascend910\"}}}"
            })
    void whatIsNoListSaysNothing(String config) {
        assertThat(SickNpus.of(Map.of("DeviceInfoCfg", config)).words()).isEmpty();
    }

    @Test
    void aConfigMapWithoutDataSaysNothing() {
        assertThat(SickNpus.of(null)).isEqualTo(SickNpus.NONE);
        assertThat(SickNpus.of(Map.of())).isEqualTo(SickNpus.NONE);
    }
}
