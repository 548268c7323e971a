// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.operator.master.PoolReport;
import dev.kvpool.operator.master.Reports;
import dev.kvpool.operator.pool.DirectorySpec;
import dev.kvpool.operator.pool.PoolSketch;
import dev.kvpool.operator.pool.naming.PoolLabels;
import dev.kvpool.operator.pool.observation.PoolObservation;
import dev.kvpool.operator.status.Finding;
import dev.kvpool.operator.status.Reason;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DirectoryFindingsTest {
    private static final Duration LIFE = Duration.ofHours(60);

    private static Finding of(PoolSketch sketch) {
        PoolObservation seen = sketch.observation();
        return DirectoryFindings.of(seen, seen.spec().security().directory().orElseThrow());
    }

    private static PoolSketch sketch() {
        return new PoolSketch(DirectorySpec.secrets(DirectorySpec.root()));
    }

    /** A master that runs, and how long its certificate is still valid. */
    private static PoolSketch master(PoolSketch sketch, String name, Duration left) {
        String until = PoolSketch.NOON.plus(left).toString();
        String from = PoolSketch.NOON.plus(left).minus(LIFE).toString();
        return sketch.pod(DirectorySpec.pod(name, PoolLabels.ROLE_MASTER, ""))
                .says(
                        name,
                        Reports.trusting(
                                new PoolReport.Trust("", new PoolReport.Certificate(from, until), List.of()),
                                PoolSketch.leader(List.of())));
    }

    @ParameterizedTest(name = "{0} h of 60 h are left: {1}")
    @CsvSource({"40, CERTIFICATES_OF_DIRECTORIES", "11, CERTIFICATES_OF_DIRECTORIES", "10, CERTIFICATES_NOT_RENEWED"})
    void othersAreToRenewInTime(int hours, Reason reason) {
        Finding finding = of(master(
                master(sketch(), "demo-master-0", Duration.ofHours(50)), "demo-master-1", Duration.ofHours(hours)));

        assertThat(finding.reason()).isEqualTo(reason);
        assertThat(finding.message())
                .contains(PoolSketch.NOON.plus(Duration.ofHours(hours)).toString());
        if (reason == Reason.CERTIFICATES_NOT_RENEWED) {
            assertThat(finding.message())
                    .contains("That of demo-master-1 comes from Secret two.")
                    .doesNotContain("demo-master-0");
        }
    }

    @Test
    void aMasterOfBeforeSaysNothingOfIt() {
        PoolSketch sketch = sketch().pod(DirectorySpec.pod("demo-master-0", PoolLabels.ROLE_MASTER, ""))
                .says("demo-master-0", PoolSketch.leader(List.of()));

        assertThat(of(sketch).message()).contains("No master has said yet");
    }

    @Test
    void aPodThatDoesNotStartForItsFilesIsNamedWithWhereTheyComeFrom() {
        String said = "/etc/kvpool/certificate/demo-a-0/tls.crt is missing";
        Finding finding = of(sketch().pod(DirectorySpec.pod("demo-a-0", PoolLabels.ROLE_STORAGE, said))
                .pod(DirectorySpec.pod("demo-a-2", PoolLabels.ROLE_STORAGE, said.replace("a-0", "a-2")))
                .pod(DirectorySpec.pod("demo-a-1", PoolLabels.ROLE_STORAGE, "no room on /dev/shm")));

        assertThat(finding.reason()).isEqualTo(Reason.CERTIFICATES_UNUSABLE);
        assertThat(finding.message())
                .contains("2 pods do not start")
                .contains("That of demo-a-0 comes from Secret three.")
                .contains("That of demo-a-2 comes from no Secret: spec.security.certificates names none for it.")
                .contains("Pod demo-a-0 has not been ready since it said: " + said)
                .doesNotContain("demo-a-1");
    }

    /** What a kubelet says of a container that ends, waits, runs again, and so on, until it is ready. */
    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', textBlock = """
            it has ended for the first time | False | false | 11:00:00 | {"terminated": {"exitCode": 1, "message": "%s"}} | null | true
            it waits | False | false | 11:00:00 | {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s"}} | {"terminated": {"message": "%s"}} | true
            it waits longer | False | false | 11:00:00 | {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 20s"}} | {"terminated": {"message": "%s"}} | true
            it runs again | False | false | 11:00:00 | {"running": {"startedAt": "2026-01-01T11:00:00Z"}} | {"terminated": {"message": "%s"}} | true
            it has ended again | False | false | 11:00:00 | {"terminated": {"exitCode": 1, "message": "%s"}} | {"terminated": {"message": "other"}} | true
            it has ended for another reason | False | false | 11:00:00 | {"terminated": {"exitCode": 1, "message": "other"}} | {"terminated": {"message": "%s"}} | false
            it has ended and said nothing | False | false | 11:00:00 | {"terminated": {"exitCode": 137}} | {"terminated": {"message": "%s"}} | false
            it is ready, and a sidecar is not | False | true | 11:00:00 | {"running": {"startedAt": "2026-01-01T11:00:00Z"}} | {"terminated": {"message": "%s"}} | false
            it is ready | True | true | 11:10:00 | {"running": {"startedAt": "2026-01-01T11:00:00Z"}} | {"terminated": {"message": "%s"}} | false
            it was ready since | False | false | 11:20:00 | {"running": {"startedAt": "2026-01-01T11:00:00Z"}} | {"terminated": {"message": "%s"}} | false
            it has not ended yet | False | false | 11:00:00 | {"running": {"startedAt": "2026-01-01T11:00:00Z"}} | null | false
            """)
    void whatAContainerLastSaidCountsUntilItIsReady(
            String when, String podReady, boolean ready, String since, String state, String last, boolean counts) {
        String said = "/etc/kvpool/certificate/demo-a-0/tls.crt is missing";
        Finding finding = of(sketch().pod(DirectorySpec.seen("demo-a-0", PoolLabels.ROLE_STORAGE, """
                {"conditions": [{"type": "Ready", "status": "%s", "lastTransitionTime": "2026-01-01T%sZ"}],
                  "containerStatuses": [{"name": "node", "ready": %s, "restartCount": 1, "state": %s, "lastState": %s}]}
                """.formatted(
                        podReady, since, ready, state.formatted(said), last.formatted(said)))));

        assertThat(finding.reason())
                .isEqualTo(counts ? Reason.CERTIFICATES_UNUSABLE : Reason.CERTIFICATES_OF_DIRECTORIES);
        if (counts) {
            assertThat(finding.message())
                    .as("it is the same all the time")
                    .isEqualTo("A pod does not start with what others have put into directories of certificates."
                            + " That of demo-a-0 comes from Secret three. Pod demo-a-0 has not been ready since it said: "
                            + said + ".");
        }
    }

    /** One whose certificate has ended is refused before it can say so. */
    @Test
    void aMasterThatIsReadyAndGivesNoAnswerMayHaveACertificateThatHasEnded() {
        PoolSketch sketch = master(sketch(), "demo-master-0", Duration.ofHours(50))
                .pod(DirectorySpec.pod("demo-master-1", PoolLabels.ROLE_MASTER, ""))
                .silent("demo-master-1");

        assertThat(of(sketch).reason()).isEqualTo(Reason.CERTIFICATES_NOT_OBSERVED);
        assertThat(of(sketch).message())
                .contains("Master demo-master-1 runs, and gives the operator no answer: the connection failed.")
                .contains("it comes from Secret two.")
                .doesNotContain("demo-master-0");
        assertThat(of(master(sketch, "demo-master-2", Duration.ofHours(1))).reason())
                .isEqualTo(Reason.CERTIFICATES_NOT_RENEWED);
    }

    @Test
    void aMasterThatStartsIsNotAskedForAnAnswer() {
        PoolSketch sketch = sketch().pod(
                        DirectorySpec.pod("demo-master-0", PoolLabels.ROLE_MASTER, "the port is in use"))
                .silent("demo-master-0");

        assertThat(of(sketch).reason()).isEqualTo(Reason.CERTIFICATES_OF_DIRECTORIES);
    }

    @ParameterizedTest(name = "init container: {0}, container: {1}")
    @CsvSource({
        "ContainerCreating, ContainerCreating, true",
        "PodInitializing, PodInitializing, true",
        "'', PodInitializing, false",
        "PodInitializing, ImagePullBackOff, false"
    })
    void aVolumeThatIsNotMountedMayNeverBe(String init, String own, boolean isUnknown) {
        Finding finding = of(new PoolSketch(DirectorySpec.csi())
                .pod(DirectorySpec.waiting("demo-a-0", PoolLabels.ROLE_STORAGE, init, own)));

        assertThat(finding.reason())
                .isEqualTo(isUnknown ? Reason.CERTIFICATES_NOT_OBSERVED : Reason.CERTIFICATES_OF_DIRECTORIES);
        if (isUnknown) {
            assertThat(finding.message())
                    .contains(
                            "Pod demo-a-0 waits for its volumes",
                            "kubectl describe pod demo-a-0 says",
                            "CSI driver csi.example");
        }
    }

    @ParameterizedTest(name = "{0} days of the root are left: {1}")
    @CsvSource({"31, CERTIFICATES_OF_DIRECTORIES", "30, CERTIFICATE_ROOT_ENDS", "-1, CERTIFICATE_ROOT_ENDS"})
    void theRootIsToBeFollowedInTime(int days, Reason reason) {
        CertificateAuthority root = CertificateAuthority.create(
                UUID.fromString(PoolSketch.UID), PoolSketch.NOON.minus(Duration.ofDays(2)), Duration.ofDays(days + 2));
        Finding finding = of(new PoolSketch(DirectorySpec.secrets(DirectorySpec.quoted(root.roots()))));

        assertThat(finding.reason()).isEqualTo(reason);
        assertThat(finding.message())
                .contains(
                        "ends at " + PoolSketch.NOON.plus(Duration.ofDays(days)).toString());
    }
}
