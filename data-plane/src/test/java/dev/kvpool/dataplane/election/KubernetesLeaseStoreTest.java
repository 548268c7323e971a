// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.election;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.dataplane.election.LeaseStore.Stored;
import dev.kvpool.dataplane.register.Register;
import io.fabric8.kubernetes.api.model.coordination.v1.Lease;
import io.fabric8.kubernetes.api.model.coordination.v1.LeaseBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.time.Instant;
import java.util.Locale;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** The Lease as an object of a real Kubernetes API server; `make apiserver` fetches its binaries. */
class KubernetesLeaseStoreTest {
    private static final String NAMESPACE = "default";
    private static final Instant NOW = Instant.parse("2026-03-01T10:00:00.123456Z");

    private static Config config;

    @BeforeAll
    static void start() {
        config = RealApiServer.config();
    }

    private static KubernetesClient client() {
        return new KubernetesClientBuilder().withConfig(config).build();
    }

    private static KubernetesLeaseStore store(String name) {
        return new KubernetesLeaseStore(client(), NAMESPACE, name);
    }

    private static LeaseRecord lease(String holder, long transitions) {
        return new LeaseRecord(holder, 5, NOW, NOW, transitions);
    }

    /** A Lease as the operator makes it for a pool, before any master has led. */
    private static void madeByTheOperator(String name) {
        try (KubernetesClient client = client()) {
            client.resource(new LeaseBuilder()
                            .withNewMetadata()
                            .withNamespace(NAMESPACE)
                            .withName(name)
                            .addToLabels("app.kubernetes.io/instance", "demo")
                            .endMetadata()
                            .build())
                    .create();
        }
    }

    @Test
    void theRegisterIsAnAnnotationBesideThoseOfOthersAndStaysWhenTheOperatorRendersTheLease(TestInfo test)
            throws Exception {
        String name = name(test);
        madeByTheOperator(name);
        try (KubernetesLeaseStore store = store(name);
                KubernetesClient client = client()) {
            Register register = Register.NONE.enrolled(Set.of("demo-storage-0")).as(1);
            Stored made = store.read().orElseThrow();
            assertThat(made.lease().register()).isEqualTo(Register.NONE);

            assertThat(store.update(new LeaseRecord("a_1", 5, NOW, NOW, 1, register), made.version()))
                    .isPresent();
            client.resource(new LeaseBuilder()
                            .withNewMetadata()
                            .withNamespace(NAMESPACE)
                            .withName(name)
                            .addToLabels("app.kubernetes.io/instance", "other")
                            .endMetadata()
                            .build())
                    .fieldManager("kvpool-operator")
                    .forceConflicts()
                    .serverSideApply();

            LeaseRecord read = store.read().orElseThrow().lease();
            assertThat(read.register()).isEqualTo(register);
            assertThat(read.holder()).isEqualTo("a_1");
        }
    }

    @Test
    void aRegisterThatAPersonHasSpoiltCountsAsLost(TestInfo test) throws Exception {
        String name = name(test);
        madeByTheOperator(name);
        try (KubernetesLeaseStore store = store(name);
                KubernetesClient client = client()) {
            client.leases()
                    .inNamespace(NAMESPACE)
                    .withName(name)
                    .edit(lease -> new LeaseBuilder(lease)
                            .editMetadata()
                            .addToAnnotations(KubernetesLeaseStore.REGISTER, "members everybody")
                            .endMetadata()
                            .build());

            assertThat(store.read().orElseThrow().lease().register()).isEqualTo(Register.NONE);
        }
    }

    @Test
    void whatIsWrittenIsReadByAnother(TestInfo test) throws Exception {
        String name = name(test);
        try (KubernetesLeaseStore one = store(name);
                KubernetesLeaseStore other = store(name)) {
            assertThat(other.read()).isEmpty();

            Stored created = one.create(lease("a_1", 7)).orElseThrow();

            assertThat(created.lease()).isEqualTo(lease("a_1", 7));
            assertThat(other.read()).contains(created);
            assertThat(other.create(lease("b_2", 8))).as("it exists by now").isEmpty();
        }
    }

    @Test
    void ofTwoUpdatesOfOneVersionOneWins(TestInfo test) throws Exception {
        String name = name(test);
        try (KubernetesLeaseStore one = store(name);
                KubernetesLeaseStore other = store(name)) {
            one.create(lease("a_1", 1));
            String version = one.read().orElseThrow().version();
            other.read();

            assertThat(one.update(lease("a_1", 2), version)).isPresent();
            assertThat(other.update(lease("b_2", 2), version)).isEmpty();
            assertThat(other.read().orElseThrow().lease().holder()).isEqualTo("a_1");
        }
    }

    @Test
    void anUpdateOfALeaseThatWasDeletedIsNone(TestInfo test) throws Exception {
        String name = name(test);
        try (KubernetesLeaseStore store = store(name);
                KubernetesClient person = client()) {
            String version = store.create(lease("a_1", 1)).orElseThrow().version();
            person.leases().inNamespace(NAMESPACE).withName(name).delete();

            assertThat(store.update(lease("a_1", 2), version)).isEmpty();
            assertThat(store.read()).isEmpty();
        }
    }

    @Test
    void whatTheOperatorMadeIsFreeAndKeepsItsLabels(TestInfo test) throws Exception {
        String name = name(test);
        madeByTheOperator(name);
        try (KubernetesLeaseStore store = store(name);
                KubernetesClient person = client()) {
            Stored made = store.read().orElseThrow();
            assertThat(made.lease().isHeld()).isFalse();
            assertThat(made.lease().transitions()).isZero();

            store.update(lease("a_1", 1), made.version());

            Lease kept = person.leases().inNamespace(NAMESPACE).withName(name).get();
            assertThat(kept.getMetadata().getLabels()).containsEntry("app.kubernetes.io/instance", "demo");
            assertThat(kept.getSpec().getHolderIdentity()).isEqualTo("a_1");
        }
    }

    @Test
    void aGivenBackLeaseHasNoHolder(TestInfo test) throws Exception {
        try (KubernetesLeaseStore store = store(name(test))) {
            String version = store.create(lease("a_1", 3)).orElseThrow().version();

            Stored free = store.update(lease("", 3), version).orElseThrow();

            assertThat(free.lease().isHeld()).isFalse();
            assertThat(free.lease().transitions()).isEqualTo(3);
        }
    }

    @Test
    void twoMastersElectOneAndTheOtherFollowsWhenItLeaves(TestInfo test) throws Exception {
        String name = name(test);
        madeByTheOperator(name);
        try (KubernetesLeaseStore one = store(name);
                KubernetesLeaseStore other = store(name)) {
            Election first = new Election(new Candidate("m-0", 1), ElectionTimes.DEFAULT);
            Election second = new Election(new Candidate("m-1", 2), ElectionTimes.DEFAULT);

            round(first, one, PlainWishes.NONE);
            round(second, other, PlainWishes.NONE);
            assertThat(first.isLeading()).isTrue();
            assertThat(second.isLeading()).isFalse();

            round(first, one, PlainWishes.RELEASE);
            round(second, other, PlainWishes.NONE);
            assertThat(second.term().authority().epoch()).isEqualTo(2);

            round(first, one, PlainWishes.gone(second.term().authority(), 0));
            assertThat(first.term().authority().epoch()).isEqualTo(3);
        }
    }

    private static void round(Election election, LeaseStore store, Wishes wishes) throws LeaseStoreException {
        Election.Decision decision = election.decide(store.read(), 1_000, NOW, new Sight(0, true, true), wishes);
        if (decision.purpose() != Election.Purpose.NOTHING) {
            Stored stored = store.update(decision.lease(), decision.version().orElseThrow())
                    .orElseThrow();
            election.written(decision, stored, 1_000);
        }
    }

    @Test
    void theMastersNeedNoMoreThanGetAndUpdateOfTheirLease(TestInfo test) throws Exception {
        String name = name(test);
        madeByTheOperator(name);
        allow(name, "master-of-" + name);
        try (KubernetesLeaseStore allowed = new KubernetesLeaseStore(as("master-of-" + name), NAMESPACE, name);
                KubernetesLeaseStore stranger = new KubernetesLeaseStore(as("stranger"), NAMESPACE, name)) {
            Stored made = allowed.read().orElseThrow();
            assertThat(allowed.update(lease("a_1", 1), made.version())).isPresent();

            assertThatThrownBy(stranger::read)
                    .isInstanceOf(LeaseStoreException.class)
                    .hasMessageContaining("cannot read the Lease k8s://default/" + name)
                    .hasMessageContaining("needs get and update on this Lease");
        }
    }

    private static KubernetesClient as(String account) {
        Config restricted = new ConfigBuilder(config)
                .withImpersonateUsername("system:serviceaccount:default:" + account)
                .build();
        return new KubernetesClientBuilder().withConfig(restricted).build();
    }

    private static void allow(String lease, String account) {
        try (KubernetesClient client = client()) {
            client.resource(new RoleBuilder()
                            .withNewMetadata()
                            .withNamespace(NAMESPACE)
                            .withName(account)
                            .endMetadata()
                            .addNewRule()
                            .withApiGroups("coordination.k8s.io")
                            .withResources("leases")
                            .withResourceNames(lease)
                            .withVerbs("get", "update")
                            .endRule()
                            .build())
                    .create();
            client.resource(new RoleBindingBuilder()
                            .withNewMetadata()
                            .withNamespace(NAMESPACE)
                            .withName(account)
                            .endMetadata()
                            .withNewRoleRef("rbac.authorization.k8s.io", "Role", account)
                            .addNewSubject()
                            .withKind("ServiceAccount")
                            .withNamespace(NAMESPACE)
                            .withName(account)
                            .endSubject()
                            .build())
                    .create();
        }
    }

    @Test
    void aServerThatDoesNotAnswerIsAnErrorSoon() {
        Config nowhere = new ConfigBuilder()
                .withMasterUrl("https://127.0.0.1:1")
                .withConnectionTimeout(200)
                .withRequestTimeout(200)
                .withRequestRetryBackoffLimit(0)
                .build();
        try (KubernetesLeaseStore store = new KubernetesLeaseStore(
                new KubernetesClientBuilder().withConfig(nowhere).build(), NAMESPACE, "any")) {
            assertThatThrownBy(store::read)
                    .isInstanceOf(LeaseStoreException.class)
                    .hasMessageContaining("cannot read the Lease k8s://default/any");
        }
    }

    @Test
    void anEpochBeyondWhatALeaseCanHoldIsRefusedInWords(TestInfo test) throws Exception {
        try (KubernetesLeaseStore store = store(name(test))) {
            assertThatThrownBy(() -> store.create(lease("a_1", 1L << 31)))
                    .isInstanceOf(LeaseStoreException.class)
                    .hasMessageContaining("counted to its end");
        }
    }

    private static String name(TestInfo test) {
        return test.getTestMethod().orElseThrow().getName().toLowerCase(Locale.ROOT);
    }
}
