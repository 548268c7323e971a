// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.doctor;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.dataplane.config.HostPort;
import dev.kvpool.dataplane.doctor.CheckResult.Level;
import dev.kvpool.dataplane.version.Versions;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Answer;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Refused;
import dev.kvpool.dataplane.wire.message.HandshakeMessage.Welcome;
import dev.kvpool.nativelib.VersionRange;
import dev.kvpool.wire.RefusalCode;
import dev.kvpool.wire.Role;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class MasterChecksTest {
    private static final VersionRange ONE = new VersionRange(1, 1);
    private static final Versions OURS = new Versions("0.2.0", ONE, ONE, ONE);
    private static final UUID POOL = UUID.fromString("11111111-2222-3333-4444-555555555555");
    private static final UUID OTHER_POOL = UUID.fromString("99999999-2222-3333-4444-555555555555");

    @Test
    void aMasterOfOurVersionIsOk() {
        assertThat(MasterChecks.judge(OURS, List.of(answered("m0:1", welcome("0.2.0", POOL)))))
                .singleElement()
                .satisfies(finding -> assertThat(finding.level()).isEqualTo(Level.OK))
                .satisfies(finding -> assertThat(finding.found()).contains("master-0", POOL.toString(), "7 ms"));
    }

    @Test
    void anotherVersionThatFitsIsAWarningThatNamesBoth() {
        assertThat(MasterChecks.judge(OURS, List.of(answered("m0:1", welcome("0.1.0", POOL)))))
                .singleElement()
                .satisfies(finding -> assertThat(finding.level()).isEqualTo(Level.WARNING))
                .satisfies(finding -> assertThat(finding.found()).contains("0.1.0", "0.2.0"));
    }

    @Test
    void aRefusalIsAProblemWithTheMastersWords() {
        Refused refused = new Refused(RefusalCode.WIRE_VERSION, new VersionRange(2, 3), "upgrade the older one");

        assertThat(MasterChecks.judge(OURS, List.of(answered("m0:1", refused))))
                .singleElement()
                .satisfies(finding -> assertThat(finding.level()).isEqualTo(Level.PROBLEM))
                .satisfies(finding -> assertThat(finding.found()).contains("upgrade the older one", "0.2.0"));
    }

    @Test
    void aMasterThatIsNotReachedIsAProblemWithTheCause() {
        PeerAnswer none = new PeerAnswer(HostPort.parse("m0:1"), Optional.empty(), "Connection refused", Duration.ZERO);

        assertThat(MasterChecks.judge(OURS, List.of(none)))
                .singleElement()
                .satisfies(finding -> assertThat(finding.level()).isEqualTo(Level.PROBLEM))
                .satisfies(finding -> assertThat(finding.found()).contains("Connection refused"))
                .satisfies(finding -> assertThat(finding.subject()).isEqualTo("master m0:1"));
    }

    @Test
    void mastersOfTwoPoolsAreAProblemThatNamesWhoIsWhere() {
        List<CheckResult> findings = MasterChecks.judge(
                OURS,
                List.of(answered("m0:1", welcome("0.2.0", POOL)), answered("m1:1", welcome("0.2.0", OTHER_POOL))));

        assertThat(findings).hasSize(3);
        assertThat(findings.getLast().level()).isEqualTo(Level.PROBLEM);
        assertThat(findings.getLast().found()).contains("[m0:1] to " + POOL, "[m1:1] to " + OTHER_POOL);
    }

    private static PeerAnswer answered(String address, Answer answer) {
        return new PeerAnswer(HostPort.parse(address), Optional.of(answer), "", Duration.ofMillis(7));
    }

    private static Welcome welcome(String product, UUID pool) {
        return new Welcome(Role.MASTER, pool, 5, new Versions(product, ONE, ONE, ONE), 1, "master-0");
    }
}
