// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.observation;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.PodStatus;
import io.fabric8.kubernetes.api.model.PodStatusBuilder;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the init container leaves is read, and what is no such thing is nothing. */
class DeviceCheckTest {
    private static final String MISSING = """
            {"reason":"NoDevice","blocking":true,"npus":[3,5],"findings":[
              {"check":"cann","level":"missing","reason":"NoDevice","text":"ACL sees no device","remedy":"Look at npu-smi"},
              {"check":"memlock","level":"warning","reason":"","text":"only 8 MiB","remedy":""}]}""";

    @Test
    void whatIsMissingAndWhatMayBeAreSentences() {
        assertThat(DeviceCheck.of(ended(MISSING)))
                .contains(new DeviceCheck(
                        "NoDevice", true, List.of(3, 5), "ACL sees no device. Look at npu-smi.", "only 8 MiB."));
    }

    @Test
    void aContainerThatIsStartedAgainHasItInItsLastState() {
        PodStatus status = new PodStatusBuilder()
                .addNewInitContainerStatus()
                .withName("devices")
                .withNewState()
                .withNewWaiting()
                .withReason("CrashLoopBackOff")
                .endWaiting()
                .endState()
                .withNewLastState()
                .withNewTerminated()
                .withExitCode(1)
                .withMessage(MISSING)
                .endTerminated()
                .endLastState()
                .endInitContainerStatus()
                .build();

        assertThat(DeviceCheck.of(status)).map(DeviceCheck::blocking).contains(true);
    }

    @Test
    void onlyTheContainerOfThatNameCounts() {
        PodStatus other = ended(MISSING);
        other.getInitContainerStatuses().getFirst().setName("host-files");

        assertThat(DeviceCheck.of(other)).isEmpty();
        assertThat(DeviceCheck.of(new PodStatus())).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "null",
                "[]",
                "7",
                "not json",
                "{",
                "{}",
                "{\"reason\":\"Other\",\"npus\":[],\"findings\":[]}",
                "{\"reason\":null,\"npus\":[],\"findings\":[]}",
                "{\"reason\":\"\",\"npus\":null,\"findings\":[]}",
                "{\"reason\":\"\",\"npus\":[null],\"findings\":[]}",
                "{\"reason\":\"\",\"npus\":[99999999999],\"findings\":[]}",
                "{\"reason\":\"\",\"npus\":[],\"findings\":[null]}",
                "{\"reason\":\"\",\"npus\":[],\"findings\":[{\"level\":\"missing\"}]}",
                "{\"reason\":\"\",\"npus\":[0],\"findings\":[{\"level\":\"warning\",\"text\":\"cut of"
            })
    void whatIsNoAnswerIsNone(String message) {
        assertThat(DeviceCheck.of(ended(message))).isEmpty();
    }

    @Test
    void moreThanIsKnownIsLeftOut() {
        assertThat(DeviceCheck.of(ended("{\"reason\":\"\",\"npus\":[],\"findings\":[],\"later\":{}}")))
                .contains(new DeviceCheck("", false, List.of(), "", ""));
    }

    private static PodStatus ended(String message) {
        return new PodStatusBuilder()
                .addNewInitContainerStatus()
                .withName("devices")
                .withNewState()
                .withNewTerminated()
                .withExitCode(0)
                .withMessage(message)
                .endTerminated()
                .endState()
                .endInitContainerStatus()
                .build();
    }
}
