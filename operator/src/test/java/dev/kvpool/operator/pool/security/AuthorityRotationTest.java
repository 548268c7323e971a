// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.operator.pool.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.operator.pool.security.AuthorityRotation.Decision;
import dev.kvpool.operator.pool.security.AuthorityRotation.Step;
import dev.kvpool.operator.pool.security.RotationView.Member;
import dev.kvpool.operator.pool.security.RotationView.Said;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AuthorityRotationTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final Instant MADE = Instant.parse("2026-01-01T00:00:00Z");
    private static final RotationTerms TERMS = RotationTerms.DEFAULT;
    private static final CertificateAuthority OLD = CertificateAuthority.create(POOL, MADE, TERMS.life());
    private static final CertificateAuthority NEW =
            CertificateAuthority.create(POOL, MADE.plus(Duration.ofDays(335)), TERMS.life());
    private static final String OLD_NAME = CertificateAuthority.fingerprint(OLD.certificate());
    private static final String NEW_NAME = CertificateAuthority.fingerprint(NEW.certificate());

    private final PoolTrust one = PoolTrust.first(OLD.certificate(), "1").activated();
    private final PoolTrust pending = one.followedBy(NEW.certificate());
    private Optional<Instant> requested = Optional.empty();

    private static Instant day(double days) {
        return MADE.plusSeconds((long) (days * 86_400));
    }

    private Decision decide(PoolTrust trust, Instant now, List<Member> masters, List<Member> members) {
        assertThat(trust.isIntact()).isTrue();
        return AuthorityRotation.decide(new RotationView(trust, now, requested, TERMS, masters, members));
    }

    private static Member master(String name, String mounts, PoolTrust trusts) {
        return new Member(name, mounts, Optional.of(new Said(trusts.bundle().digest(), mounts)));
    }

    private static Member node(String name, String of, PoolTrust trusts) {
        return new Member(name, "", Optional.of(new Said(trusts.bundle().digest(), of)));
    }

    private static Member silent(String name) {
        return new Member(name, "", Optional.empty());
    }

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "  0,   -,     WAIT",
                "334.9, -,     WAIT",
                "335,   -,     BEGIN",
                "364,   -,     BEGIN",
                "400,   -,     BEGIN",
                " 10,   9,     BEGIN",
                " 10,   0,     WAIT",
                " 10,  -1,     WAIT",
                " 10,  11,     WAIT"
            })
    void anotherOneIsMadeThirtyDaysBeforeTheEndOrOnRequest(double now, Double at, Step step) {
        requested = Optional.ofNullable(at).map(AuthorityRotationTest::day);

        assertThat(decide(one, day(now), List.of(), List.of()).step()).isEqualTo(step);
    }

    @Test
    void oneWhoseKeyMayBeLostIsLookedFor() {
        assertThat(decide(pending, day(335), List.of(), List.of()).step()).isEqualTo(Step.CONFIRM);
    }

    @Test
    void mastersSignWithItWhenAllMembersTrustItAndClientsHadADay() {
        PoolTrust both = pending.nextSince(day(335));
        List<Member> masters = List.of(master("m-0", OLD_NAME, both), master("m-1", OLD_NAME, both));
        List<Member> members = List.of(node("n-0", OLD_NAME, both));

        assertThat(decide(both, day(335.9), masters, members))
                .isEqualTo(Decision.waiting(
                        "It waits until 2026-12-03T00:00:00Z, so that all clients trust the next one."));
        assertThat(decide(both, day(336), masters, members).step()).isEqualTo(Step.SWITCH);
        assertThat(decide(both, day(340), List.of(masters.getFirst(), master("m-1", OLD_NAME, one)), members)
                        .waitsFor())
                .isEqualTo(
                        "It waits for m-1, until 2026-12-25T00:00:00Z at most: it has not said yet to trust the next one.");
        assertThat(decide(both, day(340), masters, List.of(node("n-0", OLD_NAME, one), silent("n-1")))
                        .waitsFor())
                .startsWith("It waits for n-0, n-1, until")
                .contains("they have not said");
        assertThat(decide(both, day(358), masters, List.of(node("n-0", OLD_NAME, one)))
                        .step())
                .as("7 days before the end")
                .isEqualTo(Step.SWITCH);
    }

    @Test
    void whoSaysNothingIsNotWaitedForUntilTheEnd() {
        PoolTrust both = pending.nextSince(day(335));
        List<Member> masters = List.of(master("m-0", OLD_NAME, both));

        assertThat(decide(both, day(337), masters, List.of(silent("n-1"))).waitsFor())
                .as("a day for clients, and the life of a certificate")
                .startsWith("It waits for n-1, until 2026-12-04T01:00:00Z at most");
        assertThat(decide(both, day(337.05), masters, List.of(silent("n-1"))).step())
                .isEqualTo(Step.SWITCH);
        assertThat(decide(both, day(337.05), masters, List.of(silent("n-1"), node("n-0", OLD_NAME, one)))
                        .step())
                .as("one that says what it trusts would be shut out")
                .isEqualTo(Step.WAIT);
    }

    @Test
    void aTimeOfAClockThatWasAheadIsNotedAgain() {
        PoolTrust both = pending.nextSince(day(400));
        Member master = master("m-0", NEW_NAME, both);

        assertThat(decide(both, day(335), List.of(master), List.of()).step()).isEqualTo(Step.CONFIRM);
        assertThat(decide(both.switched().previousSince(day(400)), day(337), List.of(master), List.of())
                        .step())
                .isEqualTo(Step.MARK);
    }

    @Test
    void whatMastersSignIsValidUntilTheEndOfThePreviousOneWhileNotAllHaveTheNextKey() {
        PoolTrust switched = pending.nextSince(day(335)).switched();

        assertThat(one.signsUntil()).contains(day(365));
        assertThat(switched.signsUntil()).contains(day(365));
        assertThat(AuthorityRotation.latest(switched, TERMS)).isEqualTo(day(358));
        assertThat(switched.previousSince(day(337)).signsUntil()).contains(day(335 + 365));
    }

    @Test
    void thePreviousOneIsKeptUntilNothingItSignedIsInUse() {
        PoolTrust switched = pending.nextSince(day(335)).switched();
        assertThat(switched.fingerprint()).isEqualTo(NEW_NAME);
        assertThat(switched.notAfter()).contains(day(335 + 365));
        Member first = master("m-0", NEW_NAME, switched);

        assertThat(decide(switched, day(337), List.of(), List.of()).step()).isEqualTo(Step.WAIT);
        assertThat(decide(switched, day(337), List.of(first, master("m-1", OLD_NAME, switched)), List.of()))
                .isEqualTo(Decision.waiting("It waits for m-1 to be made again with the next key."));
        assertThat(decide(switched, day(337), List.of(first), List.of()).step()).isEqualTo(Step.MARK);

        PoolTrust marked = switched.previousSince(day(337));
        Member renewed = node("n-0", NEW_NAME, switched);
        Instant over = day(337).plus(TERMS.keepPrevious());
        assertThat(decide(marked, over.minusSeconds(1), List.of(first), List.of(renewed))
                        .step())
                .isEqualTo(Step.WAIT);
        assertThat(decide(marked, over, List.of(first), List.of(renewed)).step())
                .isEqualTo(Step.DROP);

        PoolTrust alone = marked.alone();
        assertThat(alone.isIntact()).isTrue();
        assertThat(alone.rotates()).isFalse();
        assertThat(alone.bundle().roots()).containsExactly(NEW.certificate());
        requested = Optional.of(day(335));
        assertThat(decide(alone, day(340), List.of(first), List.of()).step())
                .as("a request from before it was made has been met")
                .isEqualTo(Step.WAIT);
    }

    @Test
    void withAShortTimeMembersAreWaitedForAndNotLongerThanTheirCertificatesLive() {
        RotationTerms soon =
                new RotationTerms(Duration.ofDays(365), Duration.ofDays(30), Duration.ZERO, Duration.ofMinutes(1));
        PoolTrust marked = pending.nextSince(day(335)).switched().previousSince(day(337));
        List<Member> late = List.of(node("n-0", OLD_NAME, marked), silent("n-1"));

        assertThat(AuthorityRotation.decide(
                                new RotationView(marked, day(337.5), Optional.empty(), soon, List.of(), late))
                        .waitsFor())
                .startsWith("It waits for n-0, n-1, until 2026-12-05T01:00:00Z at most");
        assertThat(AuthorityRotation.decide(new RotationView(
                                marked, day(337).plus(Duration.ofHours(25)), Optional.empty(), soon, List.of(), late))
                        .step())
                .isEqualTo(Step.DROP);
    }

    @Test
    void nothingIsDoneWithAConfigMapThatSomebodyChanged() {
        PoolTrust changed = new PoolTrust(
                NEW_NAME, true, OLD.roots(), Optional.of(MADE), Optional.empty(), Optional.empty(), "1", "u");

        assertThat(AuthorityRotation.decide(
                                new RotationView(changed, day(400), Optional.empty(), TERMS, List.of(), List.of()))
                        .step())
                .isEqualTo(Step.WAIT);
    }

    @Test
    void termsThatLeaveNoTimeAreRefused() {
        assertThatThrownBy(
                        () -> new RotationTerms(Duration.ofDays(30), Duration.ofDays(30), Duration.ZERO, Duration.ZERO))
                .hasMessageContaining("at least twice");
        assertThatThrownBy(() ->
                        new RotationTerms(Duration.ofDays(30), Duration.ofDays(3), Duration.ofHours(-1), Duration.ZERO))
                .hasMessageContaining("no time negative");
    }
}
