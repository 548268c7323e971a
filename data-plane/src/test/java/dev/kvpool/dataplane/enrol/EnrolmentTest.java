// SPDX-License-Identifier: Apache-2.0
package dev.kvpool.dataplane.enrol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.kvpool.dataplane.enrol.RefusedTokenException.Reason;
import dev.kvpool.identity.certificate.CertificateAuthority;
import dev.kvpool.identity.certificate.Pem;
import dev.kvpool.identity.name.PeerNames;
import java.net.InetAddress;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EnrolmentTest {
    private static final UUID POOL = UUID.fromString("5b0c3a52-7d2c-4f0e-9d0e-2f6f1f6f9a01");
    private static final Instant NOW = Instant.parse("2026-11-01T12:00:00Z");
    private static final String AUDIENCE = "kvpool.dev/" + POOL;
    private static final String RULES = """
            # what the operator writes
            pools/demo-storage node
            pools/demo-each    node each
            pools/demo-agent   agent
            kvpool/operator    operator
            mon/prometheus     monitor
            pools/demo-admin   admin

            team-a/engine      tenant team-a rw
            team-b/default     tenant team-b ro
            """;
    private static final InstantSource CLOCK = () -> NOW;
    private static final InetAddress HERE = InetAddress.ofLiteral("192.0.2.1");
    private static final Duration DAY = Duration.ofDays(1);
    private static final TokenIssuer ISSUER = TokenIssuer.ec("key-1");

    private final CertificateAuthority authority = CertificateAuthority.create(POOL, NOW, Duration.ofDays(365));
    private final AtomicReference<EnrolmentRules> rules = new AtomicReference<>(EnrolmentRules.parse(RULES));
    private long uptimeMs = 5;
    private Instant now = NOW;
    private final TokenChecks checks =
            new TokenChecks(new TokenVerifier(AUDIENCE, ISSUER, () -> now, () -> uptimeMs), () -> now, () -> uptimeMs);
    private final Enrolment enrolment =
            new Enrolment(POOL, () -> authority, checks, () -> rules.get(), DAY, CLOCK, () -> uptimeMs);
    private final KeyPair pair = CertificateAuthority.newKey();

    private static ObjectNode claims(String namespace, String account) {
        return TokenIssuer.claims(AUDIENCE, namespace, account, NOW, NOW.plusSeconds(600));
    }

    private Enrolment.Granted enrol(String token) throws RefusedTokenException {
        return enrolment.enrol(
                token, TokenIssuer.url(pair.getPublic().getEncoded()), EnrolClient.proof(pair, token), HERE);
    }

    @ParameterizedTest
    @CsvSource({
        "pools,demo-storage,node/demo-a-0,24",
        "pools,demo-each,node/each.worker-1,24",
        "pools,demo-agent,agent/worker-1,24",
        "kvpool,operator,operator,24",
        "mon,prometheus,monitor,24",
        "pools,demo-admin,admin/pools.demo-admin,1",
        "team-a,engine,tenant/team-a/rw/team-a.engine,1",
        "team-b,default,tenant/team-b/ro/team-b.default,1"
    })
    void anAccountGetsTheNameOfItsRule(String namespace, String account, String path, int hours) throws Exception {
        ObjectNode claims = claims(namespace, account);
        if (account.equals("operator")) {
            claims.put("aud", audienceOf(authority));
        }

        Enrolment.Granted granted = enrol(ISSUER.token(claims));

        X509Certificate leaf = Pem.certificates(granted.certificate()).getFirst();
        assertThat(PeerNames.of(leaf)).isEqualTo(granted.name());
        assertThat(granted.name().uri()).isEqualTo("spiffe://" + POOL + "/" + path);
        assertThat(leaf.getPublicKey()).isEqualTo(pair.getPublic());
        assertThat(granted.notAfter()).isEqualTo(NOW.plus(Duration.ofHours(hours)));
        leaf.verify(Pem.certificates(granted.roots()).getFirst().getPublicKey());
    }

    @ParameterizedTest
    @CsvSource({"demo-storage,PT2M,PT2M", "demo-admin,PT2M,PT2M", "demo-admin,PT2H,PT1H", "demo-storage,PT2H,PT2H"})
    void certificatesLiveAsLongAsTheMasterIsTold(String account, Duration told, Duration life) throws Exception {
        Enrolment brief = new Enrolment(POOL, () -> authority, checks, () -> rules.get(), told, CLOCK, () -> uptimeMs);
        String token = ISSUER.token(claims("pools", account));
        Enrolment.Granted granted = brief.enrol(
                token, TokenIssuer.url(pair.getPublic().getEncoded()), EnrolClient.proof(pair, token), HERE);
        assertThat(granted.notAfter()).isEqualTo(NOW.plus(life));
    }

    private static String audienceOf(CertificateAuthority authority) {
        return AUDIENCE + "/" + CertificateAuthority.fingerprint(authority.certificate());
    }

    /** Anybody who may make a pool may say that it has the identity of another one, and have the operator show it a token. */
    @Test
    void whatTheOperatorShowedToAPoolWithAnotherAuthorityIsRefused() {
        CertificateAuthority other = CertificateAuthority.create(POOL, NOW, Duration.ofDays(365));
        for (String audience : List.of(AUDIENCE, audienceOf(other), AUDIENCE + "/")) {
            ObjectNode claims = claims("kvpool", "operator").put("aud", audience);

            var refusal = catchThrowableOfType(RefusedTokenException.class, () -> enrol(ISSUER.token(claims)));
            assertThat(refusal.reason()).as(audience).isEqualTo(Reason.AUDIENCE);
            assertThat(refusal).hasMessageContaining(audienceOf(authority));
        }
    }

    @Test
    void allOthersShowTokensOfThePool() {
        ObjectNode claims = claims("team-a", "engine").put("aud", audienceOf(authority));

        assertThat(catchThrowableOfType(RefusedTokenException.class, () -> enrol(ISSUER.token(claims))))
                .hasMessageContaining("must be of audience " + AUDIENCE);
    }

    @Test
    void anAccountWithoutARuleGetsNothing() {
        for (List<String> other :
                List.of(List.of("team-a", "default"), List.of("pools", "engine"), List.of("team-c", "engine"))) {
            var refusal = catchThrowableOfType(
                    RefusedTokenException.class, () -> enrol(ISSUER.token(claims(other.get(0), other.get(1)))));
            assertThat(refusal.reason()).isEqualTo(Reason.NO_RULE);
            assertThat(refusal).hasMessageContaining(other.get(0) + "/" + other.get(1));
        }
    }

    @Test
    void aMembersTokenMustComeFromItsPod() {
        for (String account : List.of("demo-storage", "demo-each", "demo-agent")) {
            ObjectNode claims = claims("pools", account);
            ((ObjectNode) claims.get("kubernetes.io")).remove(List.of("pod", "node"));

            assertThat(catchThrowableOfType(RefusedTokenException.class, () -> enrol(ISSUER.token(claims)))
                            .reason())
                    .isEqualTo(Reason.NO_RULE);
        }
    }

    @Test
    void whoHasTheTokenButNotTheKeyGetsNothing() {
        String token = ISSUER.token(claims("team-a", "engine"));
        String key = TokenIssuer.url(pair.getPublic().getEncoded());
        String ofAnotherToken = EnrolClient.proof(pair, token + "x");
        String ofAnotherKey = EnrolClient.proof(CertificateAuthority.newKey(), token);
        for (String proof : List.of("", "AAAA", "%", ofAnotherToken, ofAnotherKey)) {
            assertThat(catchThrowableOfType(RefusedTokenException.class, () -> enrolment.enrol(token, key, proof, HERE))
                            .reason())
                    .isEqualTo(Reason.PROOF);
        }
    }

    @Test
    void aKeyOfAnotherKindIsRefused() throws GeneralSecurityException {
        KeyPairGenerator p384 = KeyPairGenerator.getInstance("EC");
        p384.initialize(new ECGenParameterSpec("secp384r1"));
        KeyPair other = p384.generateKeyPair();
        String token = ISSUER.token(claims("team-a", "engine"));
        for (String key : List.of(
                "",
                "%",
                "AAAA",
                "A".repeat(5000),
                TokenIssuer.url(other.getPublic().getEncoded()))) {
            assertThat(catchThrowableOfType(
                                    RefusedTokenException.class,
                                    () -> enrolment.enrol(token, key, EnrolClient.proof(other, token), HERE))
                            .reason())
                    .isEqualTo(Reason.PROOF);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "team-a/engine",
                "team-a node",
                "/x node",
                "team-a/ node",
                "TEAM/x node",
                "team-a/x master",
                "team-a/x boss",
                "team-a/x agent y",
                "team-a/x node a b",
                "team-a/x node A",
                "team-a/x tenant",
                "team-a/x tenant t",
                "team-a/x tenant t wr",
                "team-a/x tenant T rw",
                "team-a/x tenant t rw more",
                "team-a/* admin",
                "team-a/* node",
                "team-a/** tenant t rw",
                "team-a/* none",
                "team-a/engine none rw",
                "team-a/engine none\nteam-a/engine tenant team-c rw",
                "*/x tenant t rw",
                "team-a/engine tenant team-b rw\nteam-a/engine tenant team-c rw"
            })
    void aLineThatIsNotRightIsNamed(String lines) {
        assertThatThrownBy(() -> EnrolmentRules.parse("# first\n" + lines))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageStartingWith("line " + (lines.lines().count() + 1) + ": ");
    }

    @Test
    void theSameLineTwiceIsOne() throws Exception {
        EnrolmentRules twice = EnrolmentRules.parse("a/b operator\r\n  a/b   operator  \n");

        assertThat(twice.name(POOL, account("a", "b")).path()).isEqualTo("operator");
    }

    @Test
    void otherAccountsOfANamespaceAreOfATenantAndKeepWhatTheirOwnLinesSay() throws Exception {
        EnrolmentRules rules = EnrolmentRules.parse("""
                pools/* tenant default rw
                pools/demo-admin admin
                pools/demo-master none
                """);

        assertThat(rules.name(POOL, account("pools", "default")).path()).isEqualTo("tenant/default/rw/pools.default");
        assertThat(rules.name(POOL, account("pools", "demo-admin")).path()).isEqualTo("admin/pools.demo-admin");
        assertThatThrownBy(() -> rules.name(POOL, account("pools2", "default")))
                .isInstanceOf(RefusedTokenException.class);
        assertThatThrownBy(() -> rules.name(POOL, account("pools", "demo-master")))
                .isInstanceOf(RefusedTokenException.class)
                .hasMessageContaining("has no part in this pool");
    }

    private static ServiceAccountToken account(String namespace, String name) {
        return new ServiceAccountToken(namespace, name, "", "", NOW, true, Set.of());
    }

    private Reason reason(String token, String from) {
        try {
            enrolment.names().named(token, InetAddress.ofLiteral(from));
            return null;
        } catch (RefusedTokenException e) {
            return e.reason();
        }
    }

    @Test
    void oneAddressBringsOnlySoMany() {
        for (int i = 0; i < 100; i++) {
            assertThat(reason("x.y." + i, "2001:db8:0:1::1"))
                    .isEqualTo(i < TokenChecks.OF_ADDRESS_MAX ? Reason.MALFORMED : Reason.BUDGET);
        }
        assertThat(reason("x.y.z", "2001:db8:0:1::2")).as("a neighbour").isEqualTo(Reason.MALFORMED);
    }

    @Test
    void whoFloodsFromOneNetworkKeepsNoOtherOut() throws Exception {
        String known = ISSUER.token(claims("mon", "prometheus"));
        assertThat(enrolment.names().named(known, HERE).name().path()).isEqualTo("monitor");
        for (int i = 0; i < 10_000; i++) {
            Reason reason = reason("x.y." + i, "2001:db8:0:1::" + Integer.toHexString(i));
            assertThat(reason).isEqualTo(i < TokenChecks.OF_NETWORK_MAX ? Reason.MALFORMED : Reason.BUDGET);
        }
        assertThat(reason(ISSUER.token(claims("pools", "demo-admin")), "2001:db8:0:2::1"))
                .as("another network")
                .isNull();
        assertThat(reason(known, "2001:db8:0:1::1"))
                .as("a token that is known, from the address of the flood")
                .isNull();
        assertThat(reason(ISSUER.token(claims("kvpool", "other")), "2001:db8:0:1::1"))
                .isEqualTo(Reason.BUDGET);

        uptimeMs += 1000;
        assertThat(reason("x.y.z", "2001:db8:0:1::1")).isEqualTo(Reason.MALFORMED);
    }

    /** Each brings no more than one address may. */
    @Test
    void whoFloodsFromManyAddressesKeepsNoMemberOut() throws Exception {
        assertThat(reason(ISSUER.token(claims("pools", "demo-storage")), "192.0.2.1"))
                .isNull();
        uptimeMs += 1000;
        for (int i = 0; i < TokenChecks.OF_ALL_MAX; i++) {
            assertThat(reason("x.y." + i, "198.51.100." + i / TokenChecks.OF_ADDRESS_MAX))
                    .isEqualTo(i < TokenChecks.OF_OTHERS_MAX ? Reason.MALFORMED : Reason.BUDGET);
        }
        assertThat(reason(ISSUER.token(claims("pools", "demo-storage").put("jti", "renewed")), "192.0.2.1"))
                .isNull();
        assertThat(reason(ISSUER.token(claims("mon", "prometheus")), "192.0.2.2"))
                .isEqualTo(Reason.BUDGET);
    }

    @Test
    void aTokenThatIsKnownLosesItsPartWithTheRulesAndEndsInTime() throws Exception {
        String token = ISSUER.token(claims("mon", "prometheus"));
        assertThat(enrolment.names().named(token, HERE).until()).isEqualTo(NOW.plusSeconds(600));
        rules.set(EnrolmentRules.parse("mon/prometheus admin\n"));
        assertThat(enrolment.names().named(token, HERE).name().path()).isEqualTo("admin/mon.prometheus");
        rules.set(EnrolmentRules.parse("mon/other admin\n"));
        assertThat(reason(token, "192.0.2.1")).isEqualTo(Reason.NO_RULE);
        rules.set(EnrolmentRules.parse(RULES));
        now = NOW.plusSeconds(600).plus(TokenVerifier.DRIFT);
        assertThat(reason(token, "192.0.2.1")).isEqualTo(Reason.TIME);
    }

    @Test
    void strangersPushNoKnownTokenOut() {
        for (int i = 0; i < 30; i++) {
            uptimeMs += 1000;
            assertThat(reason(ISSUER.token(claims("strange", "a" + i)), "192.0.2.1"))
                    .isEqualTo(Reason.NO_RULE);
        }
        assertThat(checks.known()).isZero();
    }

    /** All processes of a pod show the same token; the one that asks without end gets no more than its share of signatures. */
    @Test
    void oneTokenGetsSoManyCertificatesASecond() throws Exception {
        String token = ISSUER.token(claims("team-a", "engine"));
        for (int i = 0; i < Enrolment.OF_TOKEN_MAX; i++) {
            enrol(token);
        }
        var refusal = catchThrowableOfType(RefusedTokenException.class, () -> enrol(token));
        assertThat(refusal.reason()).isEqualTo(Reason.BUDGET);
        assertThat(refusal.httpStatus()).isEqualTo(429);
        assertThat(refusal).hasMessageContaining("more than 20 a second from one token");
        enrol(ISSUER.token(claims("team-b", "default")));
        uptimeMs += 1000;
        enrol(token);
    }

    /** However many tokens a tenant's namespaces make: others' engines and members of the pool get certificates in the same second. */
    @Test
    void aTenantWithManyTokensKeepsNoOtherOut() throws Exception {
        List<String> many = tokens("team-a", "engine");
        List<String> others = tokens("team-b", "default");
        List<String> monitors = tokens("mon", "prometheus");
        String member = tokens("pools", "demo-storage").getFirst();

        assertThat(flood(many)).as("three times what it leaves free").isEqualTo(225);
        assertThat(flood(others)).as("the same of the rest").isEqualTo(56);
        assertThat(flood(monitors)).as("and of what that leaves").isLessThan(19);
        enrol(member);
    }

    /** Of as many pods as it takes to use up what all may have; each was verified in a second of its own. */
    private List<String> tokens(String namespace, String account) throws Exception {
        List<String> tokens = new ArrayList<>();
        for (int i = 0; i < Enrolment.OF_ALL_MAX / Enrolment.OF_TOKEN_MAX; i++) {
            uptimeMs += 1000;
            tokens.add(ISSUER.token(claims(namespace, account).put("jti", "number " + i)));
            enrolment.names().named(tokens.getLast(), HERE);
        }
        return tokens;
    }

    /** How many certificates these get in one second. */
    private int flood(List<String> tokens) {
        int signed = 0;
        for (int i = 0; i < Enrolment.OF_ALL_MAX; i++) {
            try {
                enrol(tokens.get(i % tokens.size()));
                signed++;
            } catch (RefusedTokenException e) {
                assertThat(e.reason()).isEqualTo(Reason.BUDGET);
            }
        }
        return signed;
    }
}
